#include <algorithm>
#include <array>

#include "base/text.h"
#include "selftest/check.h"

namespace comanda::selftest {
namespace {

using auth::Scope;
using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 7> kWeekdays = {
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
constexpr std::array<std::string_view, 4> kServiceTypes = {"ONSITE", "TABLE", "DELIVERY",
                                                           "TAKEAWAY"};
constexpr std::array<std::string_view, 7> kRoles = {"admin", "manager", "waiter", "rider",
                                                    "cook",  "sales",   "cashier"};

constexpr std::array<std::string_view, 16> kCompanyFields = {
    "id",       "name",          "description", "logo",           "public_url",     "phone",
    "location", "country_code",  "timezone",    "business_hours", "currently_open", "language",
    "currency", "day_starts_at", "created_at",  "updated_at"};
constexpr std::array<std::string_view, 4> kPaymentMethodFields = {"id", "code", "description",
                                                                  "service_types"};
constexpr std::array<std::string_view, 9> kUserFields = {
    "id",     "name",       "email",     "country_calling_code", "phone_number", "role",
    "active", "created_at", "updated_at"};
constexpr std::array<std::string_view, 5> kStoreFields = {"provider_name", "store_status", "reason",
                                                          "until", "checked_at"};
constexpr std::array<std::string_view, 4> kStoreStatuses = {"OPEN", "PAUSED", "CLOSED", "UNKNOWN"};
constexpr std::array<std::string_view, 14> kClientFields = {
    "id",           "name",      "email",         "country_calling_code",
    "phone_number", "phone",     "document_type", "document_number",
    "notes",        "addresses", "orders_count",  "last_order_at",
    "created_at",   "updated_at"};
constexpr std::array<std::string_view, 8> kCategoryFields = {
    "id", "name", "slug", "description", "image_url", "position", "visible", "products"};
constexpr std::array<std::string_view, 18> kProductFields = {
    "id",          "category_id", "name",          "slug",
    "description", "image_url",   "images",        "position",
    "visible",     "available",   "stock_enabled", "messages_for_customers",
    "kitchen_id",  "currency",    "variants",      "modifier_categories",
    "created_at",  "updated_at"};
constexpr std::array<std::string_view, 12> kVariantFields = {"id",
                                                             "product_id",
                                                             "name",
                                                             "sku",
                                                             "price",
                                                             "original_price",
                                                             "packaging_price",
                                                             "stock",
                                                             "stock_threshold",
                                                             "position",
                                                             "available",
                                                             "currency"};

bool Contains(Names names, std::string_view name) { return std::ranges::count(names, name) > 0; }

// Not checked if the list is empty: it has no row to examine.
void CheckRows(const Reply& reply, Names names, std::string_view of, Finding& finding) {
  if (!finding.List(reply)) return;
  const auto rows = reply.Items("data");
  if (rows.empty()) return finding.NotChecked("the list is empty");
  finding.Members(rows.front(), names, of);
}

// Expects 304 for the tag of an unchanged resource. Repeated, because it may really change between
// the two requests.
void CheckUnchanged(Probe& probe, const std::string& path, Finding& finding) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Reply first = probe.Get(path);
    if (!finding.Status(first, 200)) return;
    if (!finding.HasHeader(first, "ETag")) return;
    const Reply second = probe.Get(path, {"If-None-Match: " + first.HeaderOr("ETag", "")});
    if (second.status() == 304) {
      finding.Same("body of a 304", "", second.answer().body);
      return;
    }
    if (second.status() != 200 || second.HeaderOr("ETag", "") == first.HeaderOr("ETag", "")) {
      finding.Status(second, 304, "status with If-None-Match");
      return;
    }
  }
  finding.NotChecked("it changed with every request");
}

// Company.

void ShowsTheCompany(Probe& probe, Finding& finding) {
  probe.company = probe.Get("/v1/company");
  if (!finding.Status(probe.company, 200)) return;
  finding.Members(probe.company.Find("data"), kCompanyFields, "the company");
}

void ShowsTheCurrency(Probe& probe, Finding& finding) {
  const std::string currency = probe.company.Text("data.currency");
  const bool plausible = currency.size() == 3 &&
                         std::ranges::all_of(currency, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!finding.True(plausible, "data.currency", "three capital letters",
                    Shown(probe.company.Find("data.currency")))) {
    return;
  }
  probe.LearnCurrency(currency);
  finding.Note(currency + ", " + std::to_string(probe.decimals()) + " decimals");
}

void ShowsTheHours(Probe& probe, Finding& finding) {
  finding.Members(probe.company.Find("data.business_hours"), kWeekdays, "business_hours");
  const auto open = probe.company.Find("data.currently_open");
  finding.True(open && open->kind() == json::Kind::kBoolean, "data.currently_open", "true or false",
               Shown(open));
}

void TagsTheCompany(Probe& probe, Finding& finding) {
  CheckUnchanged(probe, "/v1/company", finding);
}

void KeepsCachesPrivate(Probe& probe, Finding& finding) {
  finding.Same("header Cache-Control", "private, no-cache",
               probe.company.HeaderOr("Cache-Control", "none"));
}

void ListsPaymentMethods(Probe& probe, Finding& finding) {
  probe.payment_methods = probe.Get("/v1/company/payment-methods");
  CheckRows(probe.payment_methods, kPaymentMethodFields, "a payment method", finding);
  for (const json::Value& method : probe.payment_methods.Items("data")) {
    const auto types = Find(method, "service_types");
    const bool list = types && types->kind() == json::Kind::kArray && !types->items().empty();
    const bool known = list && std::ranges::all_of(types->items(), [](const json::Value& type) {
                         return Contains(kServiceTypes, TextAt(type, ""));
                       });
    finding.True(known, "service_types of " + Shown(TextAt(method, "code")),
                 "some of ONSITE, TABLE, DELIVERY, TAKEAWAY", Shown(types));
  }
}

// People.

void ListsUsers(Probe& probe, Finding& finding) {
  const Reply users = probe.Get("/v1/users?per_page=100");
  CheckRows(users, kUserFields, "a user", finding);
  for (const json::Value& user : users.Items("data")) {
    const std::string role = TextAt(user, "role");
    finding.True(Contains(kRoles, role), "role of a user",
                 "admin, manager, waiter, rider, cook, sales or cashier", Shown(role));
  }
}

void FiltersUsers(Probe& probe, Finding& finding) {
  const Reply riders = probe.Get("/v1/users?filter[role]=rider&filter[active]=true");
  if (!finding.List(riders)) return;
  for (const json::Value& user : riders.Items("data")) {
    finding.Same("role", "rider", TextAt(user, "role"));
    finding.Same("active", "true", Shown(Find(user, "active")));
  }
}

// Delivery apps.

void ListsStoreStatuses(Probe& probe, Finding& finding) {
  const Reply stores = probe.Get("/v1/stores/status");
  CheckRows(stores, kStoreFields, "an app", finding);
  for (const json::Value& store : stores.Items("data")) {
    const std::string status = TextAt(store, "store_status");
    finding.True(Contains(kStoreStatuses, status),
                 "store_status of " + TextAt(store, "provider_name"),
                 "OPEN, PAUSED, CLOSED or UNKNOWN", Shown(status));
  }
}

void RefusesAnAppOfNowhere(Probe& probe, Finding& finding) {
  finding.Problem(probe.Get("/v1/stores/status?provider_names=comanda_selftest"), 400,
                  "invalid_parameter");
}

void ListsClients(Probe& probe, Finding& finding) {
  CheckRows(probe.Get("/v1/clients?per_page=1"), kClientFields, "a client", finding);
}

void ShowsOneClient(Probe& probe, Finding& finding) {
  const Reply list = probe.Get("/v1/clients?per_page=1");
  const std::string id = list.Text("data.0.id");
  if (id.empty()) return finding.NotChecked("there is no client");
  const Reply client = probe.Get("/v1/clients/" + id);
  if (finding.Status(client, 200)) {
    finding.SameRecord("the client by its id", list.Find("data.0"), client.Find("data"));
  }
}

void FindsAClientByPhone(Probe& probe, Finding& finding) {
  const Reply list = probe.Get("/v1/clients?per_page=20");
  for (const json::Value& client : list.Items("data")) {
    const std::string phone = Digits(TextAt(client, "phone_number"));
    if (phone.empty()) continue;
    const Reply found = probe.Get("/v1/clients?per_page=100&filter[phone]=" + phone);
    if (!finding.Status(found, 200)) return;
    finding.True(found.Row("data", "id", TextAt(client, "id")).has_value(),
                 "the list with filter[phone]", "the client with that number", "not among them");
    return;
  }
  finding.NotChecked("no client has a phone number");
}

void KeepsClientsOutOfCaches(Probe& probe, Finding& finding) {
  finding.Same("header Cache-Control", "no-store",
               probe.Get("/v1/clients?per_page=1").HeaderOr("Cache-Control", "none"));
}

// Menu.

std::optional<json::Value> FirstCategory(const Probe& probe) {
  for (const json::Value& category : probe.menu.Items("data.categories")) {
    if (Find(category, "products.0")) return category;
  }
  return std::nullopt;
}

void ShowsTheMenu(Probe& probe, Finding& finding) {
  probe.menu = probe.Get("/v1/menu");
  if (!finding.Status(probe.menu, 200)) return;
  const auto categories = probe.menu.Find("data.categories");
  if (!finding.True(categories && categories->kind() == json::Kind::kArray, "data.categories",
                    "an array", Shown(categories))) {
    return;
  }
  finding.True(probe.menu.Find("pagination.total").has_value(), "pagination", "present", "missing");
  const auto category = FirstCategory(probe);
  if (!category) return finding.NotChecked("the menu has no products");
  finding.Members(category, kCategoryFields, "a category");
  finding.Members(Find(category, "products.0"), kProductFields, "a product");
  finding.Members(Find(category, "products.0.variants.0"), kVariantFields, "a variant");
}

void TagsTheMenu(Probe& probe, Finding& finding) { CheckUnchanged(probe, "/v1/menu", finding); }

void ShowsMenuParts(Probe& probe, Finding& finding) {
  const auto category = FirstCategory(probe);
  if (!category) return finding.NotChecked("the menu has no products");
  const Reply one = probe.Get("/v1/menu/categories/" + TextAt(category, "id"));
  if (finding.Status(one, 200, "the category by its id")) {
    finding.Text(one, "data.name", TextAt(category, "name"));
  }
  const Reply product = probe.Get("/v1/menu/products/" + TextAt(category, "products.0.id"));
  if (finding.Status(product, 200, "the product by its id")) {
    finding.Text(product, "data.name", TextAt(category, "products.0.name"));
  }
}

void HidesCosts(Probe& probe, Finding& finding) {
  const auto category = FirstCategory(probe);
  const auto variant = Find(category, "products.0.variants.0");
  if (!variant) return finding.NotChecked("the menu has no variants");
  const bool shown = variant->kind() == json::Kind::kObject && variant->Find("cost").has_value();
  if (probe.May(Scope::kMenuWrite)) {
    finding.True(shown, "cost of a variant", "shown to a key with menu:write", "missing");
  } else {
    finding.True(!shown, "cost of a variant", "not shown to a key without menu:write", "shown");
  }
}

// An upsert with the stored values must change nothing.
void UpsertsWithoutChange(Probe& probe, Finding& finding) {
  const auto category = FirstCategory(probe);
  const auto product = Find(category, "products.0");
  if (!product) return finding.NotChecked("the menu has no products");
  const auto name = Find(product, "name");
  const Reply reply =
      probe.Send({.method = "PUT",
                  .path = "/v1/menu/products",
                  .body = Filled(R"({"products":[{"id":"$","name":$}]})",
                                 {TextAt(product, "id"), name ? name->Canonical() : "null"})});
  if (!finding.Status(reply, 200)) return;
  finding.Number(reply, "data.unchanged", "1");
  finding.Number(reply, "data.created", "0");
  finding.Number(reply, "data.updated", "0");
}

// Lists and reports.

void PagesOrders(Probe& probe, Finding& finding) {
  const Reply first = probe.Get("/v1/orders?page=1&per_page=1");
  if (!finding.List(first)) return;
  finding.Number(first, "pagination.current_page", "1");
  finding.Number(first, "pagination.per_page", "1");
  const auto total = first.Find("pagination.total");
  const bool several = total && total->kind() == json::Kind::kNumber &&
                       total->number_text() != "0" && total->number_text() != "1";
  finding.Boolean(first, "pagination.has_more", several);
  finding.HasHeader(first, "X-Snapshot");
  const Reply past = probe.Get("/v1/orders?page=1000000&per_page=100");
  if (!finding.Status(past, 200, "a page past the end")) return;
  finding.Empty(past, "data");
  finding.Boolean(past, "pagination.has_more", false);
}

void TwentyRowsAPage(Probe& probe, Finding& finding) {
  finding.Number(probe.Get("/v1/orders"), "pagination.per_page", "20");
}

void TagsTheOrders(Probe& probe, Finding& finding) {
  CheckUnchanged(probe, "/v1/orders?per_page=1", finding);
}

void CheckReport(Probe& probe, std::string_view name, Names names, Finding& finding) {
  const Reply reply = probe.Get("/v1/orders/" + std::string(name));
  if (!finding.Status(reply, 200, name)) return;
  const auto data = reply.Find("data");
  if (!finding.True(data && data->kind() == json::Kind::kArray, "data of " + std::string(name),
                    "an array", Shown(data))) {
    return;
  }
  finding.True(reply.Find("pagination.total").has_value(), "pagination of " + std::string(name),
               "present", "missing");
  if (!data->items().empty()) finding.Members(data->items().front(), names, name);
}

void Reports(Probe& probe, Finding& finding) {
  constexpr std::array<std::string_view, 8> kByMethod = {
      "payment_method_id", "code",       "name",           "count",
      "sum_total",         "tips_total", "canceled_count", "canceled_total"};
  constexpr std::array<std::string_view, 5> kByTips = {"payment_method_id", "code", "name", "count",
                                                       "sum_total"};
  constexpr std::array<std::string_view, 8> kSold = {
      "product_id",       "variant_id",    "product_name", "variant_name",
      "product_quantity", "average_price", "total_sales",  "canceled_quantity"};
  CheckReport(probe, "by-payment-methods", kByMethod, finding);
  CheckReport(probe, "by-tips", kByTips, finding);
  CheckReport(probe, "products-sold", kSold, finding);
}

void ListsKeysWithoutSecrets(Probe& probe, Finding& finding) {
  const Reply keys = probe.Get("/auth/api-keys");
  if (!finding.List(keys)) return;
  for (const json::Value& key : keys.Items("data")) {
    finding.True(!Find(key, "key"), "a key's record", "without the key itself", "has it");
  }
  finding.True(keys.answer().body.find(probe.settings().key) == std::string::npos, "the list",
               "without the key of this walk", "shows it");
}

constexpr std::array kChecks = {
    Check{"The company is shown with all its fields", "10",
          "every documented field is always present, null when empty", Stage::kKey,
          Needs(Scope::kCompaniesRead), ShowsTheCompany},
    Check{"The company's currency is an ISO 4217 code", "10", "currency: ISO 4217; always present",
          Stage::kKey, Needs(Scope::kCompaniesRead), ShowsTheCurrency},
    Check{"The company's hours and whether it is open now", "10",
          "business_hours: seven lower-case weekdays; currently_open: boolean", Stage::kKey,
          Needs(Scope::kCompaniesRead), ShowsTheHours},
    Check{"An unchanged company is answered with 304", "6",
          "Every GET answers an ETag; If-None-Match gives 304", Stage::kKey,
          Needs(Scope::kCompaniesRead), TagsTheCompany, Promise::kContract},
    Check{"Only the caller's own cache may keep answers", "6", "Cache-Control: private, no-cache",
          Stage::kKey, Needs(Scope::kCompaniesRead), KeepsCachesPrivate, Promise::kContract},
    Check{"Payment methods are listed with their service types", "10",
          "Payment method: id, code, description, service_types[]", Stage::kKey,
          Needs(Scope::kPaymentMethodsRead), ListsPaymentMethods},
    Check{"Users are listed with their roles", "10",
          "role: one of admin, manager, waiter, rider, cook, sales, cashier", Stage::kKey,
          Needs(Scope::kUsersRead), ListsUsers},
    Check{"Users are filtered by role and by being active", "10",
          "GET /v1/users?filter[role]=rider&filter[active]=true (specification)", Stage::kKey,
          Needs(Scope::kUsersRead), FiltersUsers},
    Check{"Each food-delivery app of the country has a row with the state of the store", "12",
          "One row for each app of the company's country; a failing app never fails the request",
          Stage::kKey, Needs(Scope::kStoresRead), ListsStoreStatuses},
    Check{"An app that is none of the country's is refused", "12",
          "An unknown provider_names entry, or one not of the country: 400 naming the allowed",
          Stage::kKey, Needs(Scope::kStoresRead), RefusesAnAppOfNowhere, Promise::kContract},
    Check{"Clients are listed with all their fields", "10",
          "every documented field is always present, null when empty", Stage::kKey,
          Needs(Scope::kClientsRead), ListsClients},
    Check{"A client by its id is the row of the list", "10", "GET /v1/clients/{id}", Stage::kKey,
          Needs(Scope::kClientsRead), ShowsOneClient},
    Check{"A client is found by the phone number", "10",
          "phone (digits, with or without calling code)", Stage::kKey, Needs(Scope::kClientsRead),
          FindsAClientByPhone, Promise::kContract},
    Check{"No cache keeps what is known of clients", "6", "no-store for clients, users, keys",
          Stage::kKey, Needs(Scope::kClientsRead), KeepsClientsOutOfCaches, Promise::kContract},
    Check{"The menu is shown with categories, products and variants", "9",
          "GET /v1/menu: {\"data\": {\"categories\": [...]}, \"pagination\": {...}}", Stage::kKey,
          Needs(Scope::kMenuRead), ShowsTheMenu},
    Check{"An unchanged menu is answered with 304", "6",
          "Every GET answers an ETag; If-None-Match gives 304", Stage::kKey,
          Needs(Scope::kMenuRead), TagsTheMenu, Promise::kContract},
    Check{"A category and a product are shown by their ids", "9",
          "GET /v1/menu/categories/{id}, GET /v1/menu/products/{id}", Stage::kKey,
          Needs(Scope::kMenuRead), ShowsMenuParts},
    Check{"What a product costs the house is shown only to who may write the menu", "9",
          "cost only with menu:write", Stage::kKey, Needs(Scope::kMenuRead), HidesCosts,
          Promise::kContract},
    Check{"An upsert that says nothing new changes nothing", "9",
          "The same body again: all unchanged, updated_at untouched, no event", Stage::kKey,
          Needs(Scope::kMenuRead, Scope::kMenuWrite), UpsertsWithoutChange, Promise::kContract},
    Check{"Orders are listed page by page", "6",
          "has_more and total are exact. A page past the end is empty with has_more: false. "
          "Page 1 answers X-Snapshot",
          Stage::kKey, Needs(Scope::kOrdersRead), PagesOrders},
    Check{"A page has 20 rows where none is asked for", "6", "per_page 1 to 100, default 20",
          Stage::kKey, Needs(Scope::kOrdersRead), TwentyRowsAPage},
    Check{"An unchanged list of orders is answered with 304", "6",
          "Every GET answers an ETag; If-None-Match gives 304", Stage::kKey,
          Needs(Scope::kOrdersRead), TagsTheOrders, Promise::kContract},
    Check{"The three reports answer", "11", "by-payment-methods, by-tips, products-sold",
          Stage::kKey, Needs(Scope::kOrdersRead), Reports},
    Check{"API keys are listed without their secrets", "3", "The key itself is shown once",
          Stage::kKey, Needs(Scope::kApiKeysRead), ListsKeysWithoutSecrets, Promise::kContract},
};

}  // namespace

std::span<const Check> ReadingChecks() { return kChecks; }

}  // namespace comanda::selftest
