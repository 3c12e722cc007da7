#include "keys/api.h"

#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "base/problem.h"
#include "http/context.h"
#include "http/list.h"
#include "keys/json.h"
#include "keys/keys.h"
#include "keys/store.h"

namespace comanda::keys {
namespace {

using auth::Scope;

CommandContext CommandContextOf(http::Context& context) {
  const http::Site& site = context.site();
  return {site.gate.keys(), site.mode, site.clock.SettledNow(), site.clock.MonotonicMs()};
}

constexpr std::string_view kActive = "filter[active]";

Key WithRoundedUse(Key key) {
  constexpr UtcMs kMinuteMs = 60'000;
  if (key.last_used_at) *key.last_used_at -= *key.last_used_at % kMinuteMs;
  return key;
}

Secret NewSecret(http::Context& context) {
  const http::Site& site = context.site();
  return MakeSecret(site.options.key_prefix, site.mode, site.clock.Now());
}

http::Response ShownOnce(const Key& key, const Secret& secret, int status) {
  return http::ShownOnce(RenderWithText(key, secret.text), RenderWithoutText(key), status);
}

http::Response Create(http::Context& context) {
  context.query().AllowOnly({});
  const Draft draft =
      ReadNewKey(context.body(), context.unknown_fields(), context.site().clock.Now());
  const Secret secret = NewSecret(context);
  return context.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const Key key =
        keys::Create(tx, CommandContextOf(context), context.principal(), draft, secret, stamp);
    http::Response response = ShownOnce(key, secret, 201);
    response.location = "/auth/api-keys/" + key.id;
    return response;
  });
}

http::Response List(http::Context& context) {
  return ListPage(context, {.default_sort = "-created_at",
                            .render = [](const Key& key, const std::vector<http::KeyDisplay>&) {
                              return Render(key);
                            }});
}

http::Response Get(http::Context& context) {
  const std::string id = context.UuidParameter("id");
  context.query().AllowOnly({});
  std::optional<Key> key = context.Read(
      [&](db::Snapshot& snapshot) { return store::Find(snapshot, context.company(), id); });
  if (!key) throw Refusal(Problem::kNotFound, "There is no API key with that id.");
  RefreshUses(std::span(&*key, 1), context.site().gate.keys());
  http::Response response = http::Data(Render(*key));
  response.etag = http::BodyTag(Render(WithRoundedUse(*key)));
  return http::Uncached(std::move(response));
}

http::Response Change(http::Context& context) {
  const std::string id = context.UuidParameter("id");
  context.query().AllowOnly({});
  const Draft draft =
      ReadChange(context.body(), context.unknown_fields(), context.site().clock.Now());
  return context.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return http::Uncached(http::Data(Render(
        keys::Change(tx, CommandContextOf(context), context.principal(), id, draft, stamp))));
  });
}

http::Response Rotate(http::Context& context) {
  const std::string id = context.UuidParameter("id");
  context.query().AllowOnly({});
  const int64_t grace_s = ReadGrace(context.body(), context.unknown_fields());
  const Secret secret = NewSecret(context);
  return context.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const Key key = keys::Rotate(tx, CommandContextOf(context), context.principal(), id, secret,
                                 grace_s, stamp);
    return ShownOnce(key, secret, 200);
  });
}

http::Response Revoke(http::Context& context) {
  const std::string id = context.UuidParameter("id");
  context.query().AllowOnly({});
  return context.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    return http::Uncached(http::Data(
        Render(keys::Revoke(tx, CommandContextOf(context), context.principal(), id, stamp))));
  });
}

http::Response ListAudit(http::Context& context) {
  static constexpr std::array<std::string_view, 2> kAllowed = {"page", "per_page"};
  context.query().AllowOnly(kAllowed);
  const http::Paging paging = context.query().ReadPaging();
  const store::AuditPage page = context.Read([&](db::Snapshot& snapshot) {
    return store::ListAudit(snapshot, context.company(), paging.per_page, paging.offset());
  });
  http::PageRows rows;
  for (const store::AuditRow& row : page.rows) rows.Add(Render(row));
  http::Response response;
  response.body = rows.End(paging, page.total);
  return http::Uncached(std::move(response));
}

constexpr http::Route kAuditRoute = {http::Method::kGet, "/control/audit",    http::Access::kLocal,
                                     std::nullopt,       http::Replay::kNone, false,
                                     ListAudit};

constexpr std::array kRoutes = {
    http::Post("/auth/api-keys", Scope::kApiKeysWrite, Create),
    http::Get("/auth/api-keys", Scope::kApiKeysRead, List),
    http::Get("/auth/api-keys/{id}", Scope::kApiKeysRead, Get),
    http::Patch("/auth/api-keys/{id}", Scope::kApiKeysWrite, Change),
    http::PostBodyOptional("/auth/api-keys/{id}/rotate", Scope::kApiKeysWrite, Rotate),
    http::Delete("/auth/api-keys/{id}", Scope::kApiKeysWrite, Revoke),
    kAuditRoute,
};

}  // namespace

http::Response ListPage(http::Context& context, const KeyList& list) {
  std::vector<std::string_view> allowed = {"page", "per_page", "sort"};
  if (!list.with_role) allowed.push_back(kActive);
  allowed.push_back(http::kSnapshotParameter);
  static constexpr std::array<std::string_view, 2> kSorts = {"created_at", "name"};
  const http::Query& query = context.query();
  query.AllowOnly(allowed);
  const http::Paging paging = query.ReadPaging();
  const http::Sort sort = query.ReadSort(kSorts, list.default_sort);
  const store::Selection selection{
      .active = list.with_role ? std::optional(true) : query.ReadBoolean(kActive),
      .with_role = list.with_role,
      .snapshot = http::ReadSnapshot(query),
      .now = context.site().clock.SettledNow(),
      .order = static_cast<store::Order>(sort.index),
      .descending = sort.descending,
      .limit = paging.per_page,
      .offset = paging.offset()};
  store::Page page = context.Read(
      [&](db::Snapshot& snapshot) { return store::List(snapshot, context.company(), selection); });
  RefreshUses(page.keys, context.site().gate.keys());
  const std::vector<http::KeyDisplay> displays = context.site().displays_of(context.company());
  http::PageRows rows;
  std::string tagged = std::to_string(page.total);
  for (const Key& key : page.keys) {
    rows.Add(list.render(key, displays));
    tagged += list.render(WithRoundedUse(key), displays);
  }
  http::Response response;
  response.etag = http::BodyTag(tagged);
  response.body = rows.End(paging, page.total);
  http::AddSnapshot(response, paging, page.snapshot);
  return http::Uncached(std::move(response));
}

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::keys
