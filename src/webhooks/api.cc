#include "webhooks/api.h"

#include <array>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/problem.h"
#include "events/log.h"
#include "http/context.h"
#include "http/list.h"
#include "net/resolve.h"
#include "webhooks/deliverer.h"
#include "webhooks/json.h"
#include "webhooks/list.h"
#include "webhooks/store.h"
#include "webhooks/webhooks.h"

namespace comanda::webhooks {
namespace {

using auth::Scope;

// Null on the command line without a server.
Deliverer* DelivererOf(http::Context& context) {
  return static_cast<Deliverer*>(context.site().deliverer);
}

Graces& GracesOf(http::Context& context) { return *static_cast<Graces*>(context.site().graces); }

// After the commit the receivers are read again. On the command line without a server there is
// nobody to tell.
void TellOnCommit(http::Context& context, db::Tx& tx) {
  Deliverer* const deliverer = DelivererOf(context);
  if (deliverer != nullptr) tx.OnCommit([deliverer] { deliverer->NoteChange(); });
}

std::vector<std::string> LookUp(const std::string& host) {
  constexpr int64_t kLookUpMs = 2'000;
  return net::FindAddresses(host, kLookUpMs);
}

http::Response ShownOnce(const Subscription& subscription, const Behind& behind, int status) {
  return http::ShownOnce(Render(subscription, behind, subscription.secrets.current),
                         Render(subscription, behind), status);
}

http::Response Create(http::Context& context) {
  context.query().AllowOnly({});
  const Networks networks = LookAtMachine(context.site().options.webhook_networks);
  const Draft draft = ReadNew(
      context.body(), {.unknown = context.unknown_fields(),
                       .networks = networks,
                       .find_addresses = LookUp,
                       .signature_header = context.site().options.webhook_signature_header});
  return context.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const Subscription made = webhooks::Create(tx, context.company(), draft, stamp);
    TellOnCommit(context, tx);
    http::Response response = ShownOnce(made, {}, 201);
    response.location = "/v1/webhooks/" + made.id;
    return response;
  });
}

http::Response Listed(http::Context& context, const http::ListPage& page, http::PageRows& rows,
                      const std::vector<std::string>& damage) {
  http::Response response = http::ListResponse(page, rows, "");
  response.etag = http::BodyTag(response.body);
  http::NoteDamage(context.site(), damage, response);
  return http::Uncached(std::move(response));
}

http::Response List(http::Context& context) {
  RequireListParameters(context.query());
  return context.ReadPage([&](db::Snapshot& snapshot, http::PageRows& rows) {
    std::vector<std::string> damage;
    const http::ListPage page =
        FindPage(snapshot, context.company(), context.query(), rows, damage);
    return Listed(context, page, rows, damage);
  });
}

http::Response Shown(db::Session& session, db::CompanyId company, const Subscription& one) {
  http::Response response = http::Data(Render(one, BehindOf(session, company, one)));
  response.etag = http::BodyTag(response.body);
  return http::Uncached(std::move(response));
}

http::Response Get(http::Context& context) {
  const std::string id = context.UuidParameter("id");
  context.query().AllowOnly({});
  return context.Read([&](db::Snapshot& snapshot) {
    return Shown(snapshot, context.company(), webhooks::Get(snapshot, context.company(), id));
  });
}

http::Response Change(http::Context& context) {
  const std::string id = context.UuidParameter("id");
  context.query().AllowOnly({});
  const Networks networks = LookAtMachine(context.site().options.webhook_networks);
  const Draft draft = ReadChange(
      context.body(), {.unknown = context.unknown_fields(),
                       .networks = networks,
                       .find_addresses = LookUp,
                       .signature_header = context.site().options.webhook_signature_header});
  return context.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const Subscription changed =
        webhooks::Change(tx, GracesOf(context), context.company(), id, draft, stamp);
    TellOnCommit(context, tx);
    const Behind behind = BehindOf(tx, context.company(), changed);
    if (draft.rotates_secret) return ShownOnce(changed, behind, 200);
    return http::Uncached(http::Data(Render(changed, behind)));
  });
}

http::Response Remove(http::Context& context) {
  const std::string id = context.UuidParameter("id");
  context.query().AllowOnly({});
  return context.Write([&](db::Tx& tx, const db::Stamp&) {
    const Removed removed = webhooks::Remove(tx, context.company(), id);
    TellOnCommit(context, tx);
    return http::Uncached(http::Data(Render(removed.subscription, removed.behind)));
  });
}

// Deliveries

// One test at a time per subscription, four in all: each holds a connection for up to 10 s.
class TestPlaces {
 public:
  bool TryTake(const std::string& id) {
    constexpr size_t kAtOnce = 4;
    const std::lock_guard lock(mutex_);
    return ids_.size() < kAtOnce && ids_.insert(id).second;
  }
  void GiveBack(const std::string& id) {
    const std::lock_guard lock(mutex_);
    ids_.erase(id);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> ids_;  // guarded by mutex_
};

class TestPlace {
 public:
  explicit TestPlace(std::string id) : id_(std::move(id)) {
    if (Places().TryTake(id_)) return;
    Refusal refusal(Problem::kRateLimitExceeded,
                    "A test of this webhook is under way, or four of others: try again when it has "
                    "ended, after 10 s at most.");
    refusal.retry_after_s = 10;
    throw refusal;
  }
  TestPlace(const TestPlace&) = delete;
  TestPlace& operator=(const TestPlace&) = delete;
  ~TestPlace() { Places().GiveBack(id_); }

 private:
  static TestPlaces& Places() {
    static TestPlaces places;
    return places;
  }
  const std::string id_;
};

bool ShowsAnswers(http::Context& context) {
  return context.principal().scopes.Has(Scope::kWebhooksWrite);
}

http::Response Test(http::Context& context) {
  const std::string id = context.UuidParameter("id");
  context.query().AllowOnly({});
  json::Errors errors;
  json::ObjectReader(context.body().root(), "", errors, context.unknown_fields()).Finish();
  errors.ThrowIfAny();
  const Subscription subscription = context.Read(
      [&](db::Snapshot& snapshot) { return webhooks::Get(snapshot, context.company(), id); });
  Deliverer* const deliverer = DelivererOf(context);
  if (deliverer == nullptr) {
    throw Refusal(Problem::kServiceUnavailable, "The server does not run: start it first.");
  }
  const TestPlace place(id);
  const Delivery delivery =
      deliverer->Test(context.company(), subscription, context.principal().company_uuid);
  return context.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    NoteTest(tx, context.company(), id, delivery, stamp);
    TellOnCommit(context, tx);
    return http::Uncached(http::Data(Render(delivery, true)));
  });
}

http::Response ListDeliveries(http::Context& context) {
  const std::string id = context.UuidParameter("id");
  RequireDeliveryParameters(context.query());
  return context.ReadPage([&](db::Snapshot& snapshot, http::PageRows& rows) {
    std::vector<std::string> damage;
    const http::ListPage page = FindDeliveries(snapshot, context.company(), id, context.query(),
                                               ShowsAnswers(context), rows, damage);
    // After the query: a bad parameter is refused for an unknown webhook too.
    webhooks::Get(snapshot, context.company(), id);
    return Listed(context, page, rows, damage);
  });
}

http::Response Redeliver(http::Context& context) {
  const std::string id = context.UuidParameter("id");
  const std::string delivery_id = context.UuidParameter("deliveryId");
  context.query().AllowOnly({});
  json::Errors errors;
  json::ObjectReader(context.body().root(), "", errors, context.unknown_fields()).Finish();
  errors.ThrowIfAny();
  return context.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const Delivery queued = webhooks::Redeliver(tx, context.company(), id, delivery_id, stamp);
    TellOnCommit(context, tx);
    return http::Uncached(http::Data(Render(queued, true)));
  });
}

http::Response RedeliverAll(http::Context& context) {
  const std::string id = context.UuidParameter("id");
  context.query().AllowOnly({});
  json::Errors errors;
  json::ObjectReader reader(context.body().root(), "", errors, context.unknown_fields());
  const auto state = reader.OneOf("state", {Name(State::kDead)});
  if (!state && errors.empty()) reader.Fail("state", FieldCode::kRequired, "is required: dead");
  reader.Finish();
  errors.ThrowIfAny();
  return context.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const int64_t queued = webhooks::RedeliverDead(tx, context.company(), id, stamp);
    TellOnCommit(context, tx);
    return http::Uncached(http::Data("{\"queued\":" + std::to_string(queued) + "}"));
  });
}

constexpr std::array kRoutes = {
    http::Get("/v1/webhooks", Scope::kWebhooksRead, List),
    http::Post("/v1/webhooks", Scope::kWebhooksWrite, Create),
    http::Get("/v1/webhooks/{id}", Scope::kWebhooksRead, Get),
    http::Patch("/v1/webhooks/{id}", Scope::kWebhooksWrite, Change),
    http::Delete("/v1/webhooks/{id}", Scope::kWebhooksWrite, Remove),
    http::PostBodyOptional("/v1/webhooks/{id}/test", Scope::kWebhooksWrite, Test),
    http::Get("/v1/webhooks/{id}/deliveries", Scope::kWebhooksRead, ListDeliveries),
    http::PostBodyOptional("/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver",
                           Scope::kWebhooksWrite, Redeliver),
    http::Post("/v1/webhooks/{id}/deliveries/redeliver", Scope::kWebhooksWrite, RedeliverAll),
};

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }

}  // namespace comanda::webhooks
