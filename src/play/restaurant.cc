#include "play/restaurant.h"

#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/problem.h"
#include "json/reader.h"
#include "json/writer.h"

namespace comanda::play {
namespace {

constexpr std::string_view kDemo = "0192f0a0-0001-7000-8000-000000000001";
constexpr std::string_view kDemoName = "La Caleta";

Refusal Refuse(std::string_view why) {
  return Refusal(
      Problem::kValidationFailed,
      Concat({why,
              ": play writes orders into the demo restaurant alone. Give it a directory of "
              "its own: `comanda import demo --data DIR`, `comanda serve --data DIR`"}));
}

json::Document Get(Client& client, const std::string& path) {
  const Answer answer = client.Send({.method = "GET", .path = path});
  if (answer.status != 200) throw Refuse("there is no restaurant here");
  return json::Document::Parse(answer.body);
}

// Valid as long as its document.
std::string_view TextOf(const json::Value& row, std::string_view name) {
  return row.Find(name)->text();
}

// The company of the box, which must be the only one.
json::Document GetDemo(Client& client) {
  json::Document company = Get(client, "/v1/company");
  const json::Value row = *company.root().Find("data");
  if (TextOf(row, "id") != kDemo || TextOf(row, "name") != kDemoName) {
    throw Refuse(Concat({TextOf(row, "name"), " lives here"}));
  }
  return company;
}

Days DaysOf(const json::Value& company) {
  const std::string_view name = TextOf(company, "timezone");
  const std::string_view starts_at = TextOf(company, "day_starts_at");  // HH:MM
  const std::optional<Zone> zone = Zone::Find(name);
  if (!zone) throw Refusal(Problem::kValidationFailed, ZoneAdvice(name));
  const auto digit = [&](size_t at) { return starts_at[at] - '0'; };
  return {.zone = *zone, .starts_at = (digit(0) * 10 + digit(1)) * 60 + digit(3) * 10 + digit(4)};
}

// The rows of a list that `members` describes; those that it leaves empty are left out.
std::vector<std::string> Rows(Client& client, const std::string& path,
                              std::string (*members)(const json::Value&)) {
  std::vector<std::string> found;
  const json::Document list = Get(client, path);
  for (const json::Value& row : list.root().Find("data")->items()) {
    if (std::string text = members(row); !text.empty()) found.push_back(std::move(text));
  }
  return found;
}

std::string GuestOf(const json::Value& client) {
  const std::vector<json::Value> addresses = client.Find("addresses")->items();
  if (addresses.empty()) return {};
  return Concat({R"({"client_id":")", TextOf(client, "id"), R"(","address_id":")",
                 TextOf(addresses.front(), "id"), R"("})"});
}

std::string RiderOf(const json::Value& user) {
  if (TextOf(user, "role") != "rider" || !user.Find("active")->boolean()) return {};
  std::string name;
  json::AppendQuoted(name, TextOf(user, "name"));
  return Concat({R"("user_id":")", TextOf(user, "id"), R"(","name":)", name});
}

ModifierGroup GroupOf(const json::Value& row) {
  ModifierGroup group{.is_required = row.Find("required")->boolean(), .choices = {}};
  for (const json::Value& modifier : row.Find("modifiers")->items()) {
    group.choices.push_back(Concat({R"({"modifier_id":")", TextOf(modifier, "id"), R"(","price":)",
                                    modifier.Find("price")->number_text(), "}"}));
  }
  return group;
}

Dish DishOf(const json::Value& product) {
  Dish dish;
  for (const json::Value& group : product.Find("modifier_categories")->items()) {
    dish.groups.push_back(GroupOf(group));
    if (dish.groups.back().choices.empty()) dish.groups.pop_back();
  }
  for (const json::Value& variant : product.Find("variants")->items()) {
    dish.variants.push_back(Concat(
        {R"({"product_id":")", TextOf(product, "id"), R"(","variant_id":")", TextOf(variant, "id"),
         R"(","variant_price":)", variant.Find("price")->number_text(), "}"}));
  }
  return dish;
}

// Counted stock is left out: a month would empty the cellar.
std::vector<Dish> DishesOf(const json::Value& category) {
  std::vector<Dish> dishes;
  for (const json::Value& product : category.Find("products")->items()) {
    if (!product.Find("available")->boolean() || product.Find("stock_enabled")->boolean()) continue;
    dishes.push_back(DishOf(product));
    if (dishes.back().variants.empty()) dishes.pop_back();
  }
  return dishes;
}

}  // namespace

Restaurant ReadRestaurant(Client& client) {
  const json::Document company = GetDemo(client);
  Restaurant restaurant{.days = DaysOf(*company.root().Find("data"))};
  const json::Document menu = Get(client, "/v1/menu");
  for (const json::Value& category : menu.root().Find("data")->Find("categories")->items()) {
    restaurant.courses.push_back(DishesOf(category));
    if (restaurant.courses.back().empty()) restaurant.courses.pop_back();
  }
  restaurant.tables = Rows(client, "/v1/company/tables?per_page=100",
                           [](const json::Value& row) { return std::string(TextOf(row, "id")); });
  restaurant.guests = Rows(client, "/v1/clients?per_page=100&sort=name", GuestOf);
  restaurant.riders = Rows(client, "/v1/users?per_page=100", RiderOf);
  if (restaurant.courses.empty() || restaurant.tables.empty() || restaurant.guests.empty() ||
      restaurant.riders.empty()) {
    throw Refuse("the demo restaurant lacks dishes, tables, clients or riders");
  }
  return restaurant;
}

Dice::Dice(uint64_t seed, std::string_view name) : state_(seed ^ 0xcbf29ce484222325) {
  for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
}

int64_t Dice::Between(int64_t least, int64_t most) {
  uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return least +
         static_cast<int64_t>((mixed ^ mixed >> 31) % static_cast<uint64_t>(most - least + 1));
}

}  // namespace comanda::play
