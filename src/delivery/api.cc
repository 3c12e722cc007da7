#include "delivery/api.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/concat.h"
#include "base/id.h"
#include "base/problem.h"
#include "base/text.h"
#include "company/companies.h"
#include "delivery/credentials.h"
#include "delivery/delivery.h"
#include "delivery/json.h"
#include "delivery/orders/orders_store.h"
#include "delivery/store.h"
#include "delivery/orders/whole_order.h"
#include "events/log.h"
#include "http/context.h"
#include "json/writer.h"
#include "keys/audit.h"
#include "orders/orders.h"

namespace comanda::delivery {
namespace {

constexpr std::string_view kNames = "provider_names";
// The list is one page, unless it is paged.
constexpr http::Paging kOnePage = {.page = 1, .per_page = http::kPerPageMax};

Delivery& DeliveryOf(http::Context& ctx) { return *static_cast<Delivery*>(ctx.site().delivery); }

// GET /v1/stores/status

std::string Allowed(const Catalogue::Providers& providers) {
  std::string list;
  for (const auto& provider : providers) list += (list.empty() ? "" : ", ") + provider->name;
  return list.empty() ? "the company's country has none" : list;
}

Refusal UnknownName(std::string_view name, const Catalogue::Providers& all) {
  std::string message =
      Concat({"\"", Visible(name),
              "\" is no food-delivery app of the company's country; allowed: ", Allowed(all), "."});
  std::string detail = Concat({kNames, ": ", message});
  return {Problem::kInvalidParameter,
          std::move(detail),
          {{std::string(kNames), FieldCode::kUnknownValue, std::move(message)}}};
}

// Those of the country that the query names, or all.
Catalogue::Providers Asked(const Catalogue::Providers& all, const http::Query& query) {
  const auto names = query.Find(kNames);
  if (!names) return all;
  Catalogue::Providers asked;
  std::string_view rest = *names;
  for (bool has_more = true; has_more;) {
    has_more = rest.find(',') != rest.npos;
    const std::string name = AsciiLower(TakePiece(rest, ','));
    const auto found =
        std::ranges::find_if(all, [&](const auto& provider) { return provider->name == name; });
    if (found == all.end()) throw UnknownName(name, all);
    if (std::ranges::find(asked, *found) == asked.end()) asked.push_back(*found);
  }
  return asked;
}

http::Response ShowStatus(http::Context& ctx) {
  static constexpr std::array<std::string_view, 3> kParameters = {kNames, "page", "per_page"};
  ctx.query().AllowOnly(kParameters);
  const bool is_paged = ctx.query().Find("page") || ctx.query().Find("per_page");
  const http::Paging paging = is_paged ? ctx.query().ReadPaging() : kOnePage;
  const auto company = company::GetCached(ctx.site().database, ctx.company());
  Delivery& delivery = DeliveryOf(ctx);
  Catalogue::Providers providers =
      Asked(delivery.catalogue().Of(company->country_code), ctx.query());
  const auto total = static_cast<int64_t>(providers.size());
  const auto begin = std::min(paging.offset(), total);
  const auto end = std::min(begin + paging.per_page, total);
  providers = {providers.begin() + begin, providers.begin() + end};
  std::string body = R"({"data":[)";
  for (const StatusRow& row : delivery.probes().Find(*company, providers)) {
    if (body.back() == '}') body += ',';
    body += Render(row);
  }
  http::Response response;
  response.body = body + http::ListTail(paging, total);
  return http::Uncached(std::move(response));
}

// The command line

company::Company CompanyOf(http::Context& ctx) {
  return *company::GetCached(ctx.site().database, ctx.company());
}

CredentialsPlace PlaceOf(http::Context& ctx, const company::Company& company) {
  return {ctx.site().options.data_directory, company.id};
}

json::ObjectReader BodyOf(http::Context& ctx, json::Errors& errors) {
  return json::ObjectReader(ctx.body().root(), "", errors, json::UnknownFields::kRefused);
}

std::shared_ptr<const Provider> GetProvider(http::Context& ctx, const std::string& name) {
  auto provider = DeliveryOf(ctx).catalogue().Find(name);
  if (!provider) {
    throw Refusal(Problem::kNotFound, Concat({"There is no app \"", Visible(name),
                                              "\": see `comanda provider list`."}));
  }
  return provider;
}

std::string ReadApp(http::Context& ctx) {
  json::Errors errors;
  json::ObjectReader reader = BodyOf(ctx, errors);
  const std::string app = reader.RequireText("app").value_or("");
  reader.Finish();
  errors.ThrowIfAny();
  return app;
}

void RenderProvider(json::Writer& out, http::Context& ctx, const company::Company& company,
                    const Provider& provider) {
  std::string why;
  const bool has_credentials = FindCredentials(PlaceOf(ctx, company), provider, &why).has_value();
  const auto last = DeliveryOf(ctx).probes().Last(company.id, provider.name);
  out.BeginObject();
  out.Key("app").Text(provider.name);
  out.Key("display_name").Text(provider.display_name);
  out.Key("is_in_country").Boolean(provider.IsIn(company.country_code));
  out.Key("tells_status").Boolean(provider.status.has_value());
  out.Key("tells_orders").Boolean(provider.orders.has_value());
  const auto app = ctx.Read([&](db::Session& session) {
    return store::FindApp(session, {company.company_id, provider.name});
  });
  out.Key("mode").Text(Name(app ? app->mode : Mode::kOff));
  const OrderAccounts* orders = DeliveryOf(ctx).orders();
  out.Key("orders").Text(orders == nullptr ? ""
                                           : orders->Describe(company.company_id, provider.name));
  out.Key("credentials").BeginArray();
  for (const CredentialField& field : provider.credentials) {
    out.BeginObject().Key("name").Text(field.name).Key("secret").Boolean(field.is_secret);
    out.EndObject();
  }
  out.EndArray();
  out.Key("has_credentials").Boolean(has_credentials);
  out.Key("why_not").Text(has_credentials || !provider.status ? "" : why);
  out.Key("status");
  if (last) {
    out.Raw(Render(*last));
  } else {
    out.Null();
  }
  out.Key("evidence").Text(Name(provider.evidence));
  out.Key("evidence_date").Text(provider.evidence_date);
  out.Key("file").Text(provider.file);
  out.EndObject();
}

http::Response ListProviders(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const company::Company company = CompanyOf(ctx);
  std::string body;
  json::Writer out(body);
  out.BeginArray();
  for (const auto& provider : DeliveryOf(ctx).catalogue().All()) {
    RenderProvider(out, ctx, company, *provider);
  }
  out.EndArray();
  return http::Uncached(http::Data(body));
}

// What the body must have for this provider, and nothing else.
Variables ReadCredentials(const json::ObjectReader& body, const Provider& provider) {
  json::ObjectReader reader = body;
  constexpr json::TextRule kRule = {.max = 8'192, .card_numbers_refused = false, .is_name = true};
  Variables credentials;
  auto object = reader.Object("credentials");
  if (!object) {
    reader.Fail("credentials", FieldCode::kRequired, "must be an object of texts");
    return credentials;
  }
  for (const CredentialField& field : provider.credentials) {
    credentials[field.name] = object->RequireText(field.name, kRule).value_or("");
  }
  object->Finish();
  return credentials;
}

void AuditChange(http::Context& ctx, db::Tx& tx, const db::Stamp& stamp, std::string_view action,
                 const std::string& app) {
  keys::Audit(tx, ctx.company(), stamp, {"local", action, app, "{}"});
}

http::Response AddProvider(http::Context& ctx) {
  ctx.query().AllowOnly({});
  json::Errors errors;
  json::ObjectReader reader = BodyOf(ctx, errors);
  const auto provider = GetProvider(ctx, reader.RequireText("app").value_or(""));
  if (!provider->status && !provider->orders) {
    throw Refusal(Problem::kInvalidParameter,
                  Concat({provider->display_name, " cannot be asked: it is not supported."}));
  }
  const Variables credentials = ReadCredentials(reader, *provider);
  reader.Ignore({"credentials"});
  reader.Finish();
  errors.ThrowIfAny();
  const company::Company company = CompanyOf(ctx);
  const CredentialsPlace place = PlaceOf(ctx, company);
  const std::string other = AppWithSame(place, *provider, credentials);
  if (!other.empty()) {
    throw Refusal(Problem::kInvalidParameter,
                  Concat({"These credentials are those of ", other, ": one app has one name."}));
  }
  PutCredentials(place, *provider, credentials);
  http::Response response = ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    AuditChange(ctx, tx, stamp, "provider.added", provider->name);
    return http::Uncached(http::Data("{}"));
  });
  DeliveryOf(ctx).NoteChange(provider->name);
  return response;
}

http::Response RemoveProvider(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const std::string app = ReadApp(ctx);
  GetProvider(ctx, app);
  const company::Company company = CompanyOf(ctx);
  if (!RemoveCredentials(PlaceOf(ctx, company), app)) {
    throw Refusal(Problem::kNotFound, Concat({app, " has no credentials here."}));
  }
  http::Response response = ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    store::RemoveState(tx, ctx.company(), app);
    if (auto row = store::FindApp(tx, {ctx.company(), app})) {
      row->mode = Mode::kOff;
      store::PutApp(tx, {ctx.company(), app}, *row);
    }
    AuditChange(ctx, tx, stamp, "provider.removed", app);
    return http::Uncached(http::Data("{}"));
  });
  DeliveryOf(ctx).NoteChange(app);
  return response;
}

http::Response TryProvider(http::Context& ctx) {
  ctx.query().AllowOnly({});
  const auto provider = GetProvider(ctx, ReadApp(ctx));
  if (!DeliveryOf(ctx).probes().CanAsk()) {
    throw Refusal(Problem::kServiceUnavailable, "The server does not run: start it first.");
  }
  const Found found = DeliveryOf(ctx).probes().Try(CompanyOf(ctx), provider);
  std::string body;
  json::Writer out(body);
  out.BeginObject();
  out.Key("status").Raw(Render(found.row));
  out.Key("words").Text(found.words);
  out.Key("answer_status").Integer(found.status);
  out.Key("answer").Text(IsUtf8(found.body) ? found.body : Visible(found.body));
  out.EndObject();
  return http::Uncached(http::Data(body));
}

// Orders of apps

// What is paid through the app, and what at the door.
void MakePaymentMethods(db::Tx& tx, db::CompanyId company, const Provider& provider, UtcMs now) {
  company::EnsurePaymentMethod(tx, company,
                               {.id = NewId(now),
                                .code = OnlineMethodOf(provider.name),
                                .description = Concat({provider.display_name, ", paid online"})});
  company::EnsurePaymentMethod(
      tx, company,
      {.id = NewId(now),
       .code = OfflineMethodOf(provider.name),
       .description = Concat({provider.display_name, ", paid at the door"})});
}

template <typename Enum, size_t kSize>
Enum ReadWord(json::ObjectReader& reader, std::string_view field,
              const std::array<std::string_view, kSize>& names, Enum otherwise) {
  const auto word = reader.OneOf(field, {names.begin(), names.end()});
  return word ? static_cast<Enum>(*word) : otherwise;
}

// Why the mode of an app cannot be that; empty: it can.
std::string WhyNotInMode(http::Context& ctx, const company::Company& company,
                         const Provider& provider) {
  constexpr int64_t kLatelyMs = 7 * 24 * 60 * 60'000LL;
  if (!provider.orders) {
    return Concat({provider.display_name, " cannot be asked for its orders."});
  }
  if (!provider.IsIn(company.country_code)) {
    return Concat({provider.display_name, " is no app of the company's country."});
  }
  std::string why;
  if (!FindCredentials(PlaceOf(ctx, company), provider, &why)) {
    return Concat({"It has no credentials: ", why, "."});
  }
  const bool comes_from_cloud = ctx.Read([&](db::Session& session) {
    return DeliveryOf(ctx).HasCloud(session, company.company_id) &&
           orders::HasComeFromCloud(session, company.company_id, SourceNameOf(provider.name),
                                    ctx.site().clock.Now() - kLatelyMs);
  });
  if (!comes_from_cloud) return "";
  return Concat({"The linked cloud has brought orders of ", provider.display_name,
                 " within a week: each would come twice. End that there first."});
}

http::Response SetMode(http::Context& ctx) {
  ctx.query().AllowOnly({});
  json::Errors errors;
  json::ObjectReader reader = BodyOf(ctx, errors);
  const auto provider = GetProvider(ctx, reader.RequireText("app").value_or(""));
  AppRow row;
  if (!reader.Has("mode")) {
    reader.Fail("mode", FieldCode::kRequired, "must be off, mirror or primary");
  }
  row.mode = ReadWord(reader, "mode", kModeNames, Mode::kOff);
  row.accept = ReadWord(reader, "accept", kAcceptNames, Accept::kAuto);
  row.presence = ReadWord(reader, "presence", kPresenceNames, Presence::kWatched);
  reader.Finish();
  errors.ThrowIfAny();
  const company::Company company = CompanyOf(ctx);
  if (row.mode != Mode::kOff) {
    std::string why = WhyNotInMode(ctx, company, *provider);
    if (!why.empty()) throw Refusal(Problem::kInvalidParameter, std::move(why));
  }
  http::Response response = ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const AccountKey key = {ctx.company(), provider->name};
    const auto before = store::FindApp(tx, key);
    const bool was_primary = before && before->mode == Mode::kPrimary;
    if (row.mode != Mode::kPrimary) store::DropCommands(tx, key);
    if (row.mode == Mode::kPrimary && !was_primary) store::LeaveUnaccepted(tx, key);
    row.position = was_primary ? before->position : events::ExtentOf(tx, ctx.company()).last;
    store::PutApp(tx, key, row);
    if (row.mode != Mode::kOff) MakePaymentMethods(tx, ctx.company(), *provider, stamp.now);
    AuditChange(ctx, tx, stamp, Concat({"provider.", Name(row.mode)}), provider->name);
    return http::Uncached(http::Data("{}"));
  });
  DeliveryOf(ctx).NoteChange(provider->name);
  return response;
}

http::Response ListParked(http::Context& ctx) {
  static constexpr std::array<std::string_view, 1> kParameters = {"app"};
  ctx.query().AllowOnly(kParameters);
  const auto asked = ctx.query().Find("app");
  std::string body;
  json::Writer out(body);
  out.BeginArray();
  for (const auto& provider : DeliveryOf(ctx).catalogue().All()) {
    if (!provider->orders || (asked && *asked != provider->name)) continue;
    const auto rows = ctx.Read([&](db::Session& session) {
      return store::FindParked(session, {ctx.company(), provider->name});
    });
    for (const ParkedRow& row : rows) {
      out.BeginObject();
      out.Key("app").Text(provider->name);
      out.Key("id").Text(row.id);
      out.Key("what").Text(row.what);
      out.Key("order").Text(row.external_id);
      out.Key("problem").Text(row.problem);
      out.EndObject();
    }
  }
  out.EndArray();
  return http::Uncached(http::Data(body));
}

http::Response RetryParked(http::Context& ctx) {
  ctx.query().AllowOnly({});
  json::Errors errors;
  json::ObjectReader reader = BodyOf(ctx, errors);
  const std::string id = reader.RequireText("id").value_or("");
  reader.Finish();
  errors.ThrowIfAny();
  std::set<std::string> apps;
  http::Response response = ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    int64_t count = 0;
    for (const auto& provider : DeliveryOf(ctx).catalogue().All()) {
      if (!provider->orders) continue;
      const int64_t of_app = store::Retry(tx, {ctx.company(), provider->name}, id);
      if (of_app > 0 || id == "all") apps.insert(provider->name);
      count += of_app;
    }
    if (count == 0 && id != "all") {
      throw Refusal(Problem::kNotFound,
                    "Nothing is parked under this id: see `comanda provider parked`.");
    }
    AuditChange(ctx, tx, stamp, "provider.retried", id);
    return http::Uncached(http::Data(Concat({R"({"retried":)", count, "}"})));
  });
  for (const std::string& app : apps) DeliveryOf(ctx).NoteChange(app);
  return response;
}

// What an app does not tell: one of its orders was cancelled there.
http::Response NoteCancelled(http::Context& ctx) {
  ctx.query().AllowOnly({});
  json::Errors errors;
  json::ObjectReader reader = BodyOf(ctx, errors);
  const auto provider = GetProvider(ctx, reader.RequireText("app").value_or(""));
  const std::string order = reader.RequireText("order").value_or("");
  const std::string reason = reader.Text("reason", {.max = 500}).value_or("");
  reader.Finish();
  errors.ThrowIfAny();
  const AccountKey key = {ctx.company(), provider->name};
  http::Response response = ctx.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const auto row = store::FindOrder(tx, key, order);
    if (!row || row->order_id.empty()) {
      throw Refusal(Problem::kNotFound,
                    Concat({provider->display_name, " has no order of that number here."}));
    }
    store::AddEvent(tx, key,
                    {.id = Concat({"cancelled here ", order}),
                     .external_id = order,
                     .news = News::kCancelled,
                     .at = stamp.now,
                     .raw = "{}",
                     .words = reason},
                    stamp.now);
    AuditChange(ctx, tx, stamp, "provider.order_cancelled", order);
    return http::Uncached(http::Data("{}"));
  });
  DeliveryOf(ctx).Wake();
  return response;
}

constexpr std::array kRoutes = {
    http::Get("/v1/stores/status", auth::Scope::kStoresRead, ShowStatus),
};

constexpr std::array kControlRoutes = {
    http::Local(http::Method::kGet, "/control/provider", ListProviders),
    http::Local(http::Method::kPost, "/control/provider/add", AddProvider),
    http::Local(http::Method::kPost, "/control/provider/remove", RemoveProvider),
    http::Local(http::Method::kPost, "/control/provider/try", TryProvider),
    http::Local(http::Method::kPost, "/control/provider/mode", SetMode),
    http::Local(http::Method::kPost, "/control/provider/cancelled", NoteCancelled),
    http::Local(http::Method::kGet, "/control/provider/parked", ListParked),
    http::Local(http::Method::kPost, "/control/provider/retry", RetryParked),
};

}  // namespace

std::span<const http::Route> Routes() { return kRoutes; }
std::span<const http::Route> ControlRoutes() { return kControlRoutes; }

}  // namespace comanda::delivery
