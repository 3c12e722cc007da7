#include "play/sale.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/counted.h"
#include "base/decimal.h"
#include "json/writer.h"

namespace comanda::play {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int kDecimals = 2;  // of PEN

struct ServiceRow {
  char letter;
  std::string_view name;
  int percent;
};
constexpr std::array kServices = {
    ServiceRow{'s', "TABLE", 58},
    ServiceRow{'c', "ONSITE", 12},
    ServiceRow{'t', "TAKEAWAY", 15},
    ServiceRow{'d', "DELIVERY", 15},
};

// The life of an order: of which services, how many of a hundred, between which minutes.
struct ActRow {
  Act act;
  std::string_view services;
  int percent, from_minute, to_minute;
  bool ends = false;  // also done to an order that was taken over
};
constexpr std::array kLife = {
    ActRow{Act::kPlace, "sctd", 100, 0, 0},         ActRow{Act::kDishes, "sctd", 100, 0, 0},
    ActRow{Act::kPay, "c", 100, 1, 1, true},        ActRow{Act::kCancelDish, "std", 7, 2, 6},
    ActRow{Act::kCancelOrder, "std", 3, 3, 10},     ActRow{Act::kReady, "sctd", 100, 11, 19},
    ActRow{Act::kDishesAgain, "s", 45, 20, 32},     ActRow{Act::kDishesAgain, "s", 20, 33, 42},
    ActRow{Act::kRider, "d", 100, 20, 24},          ActRow{Act::kOnTheWay, "d", 100, 25, 30},
    ActRow{Act::kServe, "ct", 100, 22, 30, true},   ActRow{Act::kPay, "t", 100, 31, 32, true},
    ActRow{Act::kHandOver, "d", 100, 36, 46, true}, ActRow{Act::kPay, "d", 100, 47, 47, true},
    ActRow{Act::kServe, "s", 100, 50, 56, true},    ActRow{Act::kDiscount, "s", 6, 57, 57},
    ActRow{Act::kPayPart, "s", 15, 58, 59},         ActRow{Act::kPay, "s", 100, 60, 63, true},
    ActRow{Act::kClose, "sctd", 100, 64, 65, true},
};
// The request that does it, and what it is called where all of them are counted.
struct CallRow {
  Act act;
  std::string_view one, several, method, path, body;  // an empty body is drawn
};
constexpr std::array kCalls = {
    CallRow{Act::kPlace, "order", "orders", "POST", "", ""},
    CallRow{Act::kDishes, "first round", "first rounds", "POST", "/combos", ""},
    CallRow{Act::kDishesAgain, "later round", "later rounds", "POST", "/combos", ""},
    CallRow{Act::kCancelDish, "cancelled dish", "cancelled dishes", "DELETE", "/combos/", ""},
    CallRow{Act::kCancelOrder, "cancelled order", "cancelled orders", "POST", "/cancel", ""},
    CallRow{Act::kDiscount, "discount", "discounts", "POST", "/discounts",
            R"({"type":"PERCENTAGE","value":10,"reason":"Cliente de la casa"})"},
    CallRow{Act::kReady, "move of the kitchen", "moves of the kitchen", "PATCH", "/status",
            R"({"status":"READY"})"},
    CallRow{Act::kRider, "rider", "riders", "PUT", "/rider", ""},
    CallRow{Act::kOnTheWay, "departure", "departures", "PATCH", "/delivery-status",
            R"({"delivery_status":"DRIVER_ON_THE_WAY_TO_DESTINATION"})"},
    CallRow{Act::kHandOver, "delivery", "deliveries", "PATCH", "/delivery-status",
            R"({"delivery_status":"DELIVERED"})"},
    CallRow{Act::kServe, "serving", "servings", "PATCH", "/status", R"({"status":"DELIVERED"})"},
    CallRow{Act::kPayPart, "part of a bill", "parts of a bill", "POST", "/payments", ""},
    CallRow{Act::kPay, "payment", "payments", "POST", "/payments", ""},
    CallRow{Act::kClose, "closed order", "closed orders", "PATCH", "/status",
            R"({"status":"FINALIZED"})"},
};
consteval bool CallsAreInOrder() {
  for (size_t i = 0; i < kCalls.size(); ++i) {
    if (kCalls[i].act != static_cast<Act>(i)) return false;
  }
  return true;
}
static_assert(kCalls.size() == kActs && CallsAreInOrder());

constexpr std::array<std::string_view, 16> kPeople = {
    "Rosa",     "Julio César", "María José",   "Renzo",  "Fiorella", "Brayan",
    "Milagros", "Óscar",       "Señora Ñahui", "Wilmer", "Beatriz",  "Hugo",
    "Íñigo",    "Lucía",       "Don Teófilo",  "Kevin"};
constexpr std::array<std::string_view, 10> kDishNotes = {
    "SIN CEBOLLA, alérgico", "sin ají",   "bien frío",       "para compartir",
    "sin culantro",          "poca sal",  "aparte la salsa", "término tres cuartos",
    "para el niño",          "sin gluten"};
constexpr std::array<std::string_view, 6> kOrderNotes = {
    "Cumpleaños: todo junto", "Alergia: langostinos",    "Primero las entradas",
    "Tienen apuro",           "Traer dos cubiertos más", "Embarazada: nada crudo"};
constexpr std::array<std::string_view, 4> kReasons = {"El cliente se fue", "Pedido repetido",
                                                      "Demora", "Se equivocó el mozo"};
constexpr std::array<std::string_view, 6> kMethods = {"cash", "cash", "yape",
                                                      "yape", "plin", "card"};
constexpr int64_t kMethodsOfRiders = 5;  // the card's reader stays in the house
constexpr int kRoundCourses =
    3;  // of a later round: drinks, beers and desserts, the last of the menu

const ServiceRow& DrawService(Dice& dice) {
  int64_t drawn = dice.Between(1, 100);
  for (const ServiceRow& row : kServices) {
    drawn -= row.percent;
    if (drawn <= 0) return row;
  }
  return kServices.front();
}

}  // namespace

std::string Describe(const Counts& counts) {
  std::string text;
  for (size_t i = 0; i < kActs; ++i) {
    if (counts[i] == 0 || i == static_cast<size_t>(Act::kDishes)) continue;
    text += text.empty() ? "" : ", ";
    text += Counted(counts[i], kCalls[i].one, kCalls[i].several);
  }
  return text.empty() ? "nothing" : text;
}

Sale::Sale(const Restaurant& restaurant, Dice dice, Settings settings)
    : restaurant_(restaurant), dice_(dice), settings_(std::move(settings)) {
  service_ = DrawService(dice_).letter;
  const bool may_be_later = service_ == 't' || service_ == 'd';
  if (may_be_later && dice_.Percent(20)) scheduled_in_ms_ = dice_.Between(40, 150) * kMinuteMs;
  Plan(scheduled_in_ms_ * settings_.speed, false);
}

Sale::Sale(const Restaurant& restaurant, Dice dice, Settings settings, const json::Value& order)
    : restaurant_(restaurant), dice_(dice), settings_(std::move(settings)) {
  const auto row =
      std::ranges::find(kServices, order.Find("service_type")->text(), &ServiceRow::name);
  if (row != kServices.end()) service_ = row->letter;
  Read(order);
  number_ =
      static_cast<int>(dice_.Between(100, 1'000'000));  // after the keys of the former evening
  const bool is_later = !order.Find("scheduled_delivery_date")->is_null();
  Plan(is_later ? 150 * kMinuteMs * settings_.speed : 0, true);
}

Sale::Sale(Sale&&) noexcept = default;
Sale::~Sale() = default;

void Sale::Plan(int64_t delay_ms, bool is_end) {
  int64_t last_ms = 0;
  for (const ActRow& row : kLife) {
    const int64_t drawn_ms = dice_.Between(row.from_minute * kMinuteMs, row.to_minute * kMinuteMs);
    if (row.services.find(service_) == std::string_view::npos || !dice_.Percent(row.percent)) {
      continue;
    }
    if (row.act == Act::kReady ? !settings_.is_past : is_end && !row.ends) continue;
    last_ms = std::max(last_ms, drawn_ms + (row.to_minute > 0 ? delay_ms : 0));
    due_.push_back({.at_ms = last_ms, .act = row.act});
  }
}

std::optional<int64_t> Sale::DueMs() const {
  if (next_ == due_.size()) return std::nullopt;
  return due_[next_].at_ms;
}

void Sale::DoNext(Client& client, UtcMs now, Counts& counts) {
  const Act act = due_[next_++].act;
  const bool pays = act == Act::kPay || act == Act::kPayPart;
  if ((pays && pending_ == 0) || (act == Act::kCancelDish && lines_.size() < 2)) return;
  const CallRow& row = kCalls[static_cast<size_t>(act)];
  Request request;
  request.method = row.method;
  request.path = Concat({"/v1/orders", id_.empty() ? "" : "/", id_, row.path});
  if (act == Act::kCancelDish) request.path += dice_.OneOf(lines_);
  request.body = BodyOf(act, now);
  request.key = settings_.reference;
  if (act != Act::kPlace) request.key += '-' + std::to_string(++number_);
  if (settings_.is_past) request.occurred_at = now;
  const Answer answer = client.Send(request);
  if (answer.status >= 300 || act == Act::kCancelOrder) next_ = due_.size();
  if (answer.status >= 300) return;
  ++counts[static_cast<size_t>(act)];
  const json::Document document = json::Document::Parse(answer.body);
  Read(*document.root().Find("data"));
}

std::string Sale::BodyOf(Act act, UtcMs now) {
  switch (act) {
    case Act::kPlace:
      return Placing(now);
    case Act::kDishes:
    case Act::kDishesAgain:
      return Dishes(act == Act::kDishesAgain);
    case Act::kCancelOrder:
      return Concat({R"({"reason":")", dice_.OneOf(kReasons), R"("})"});
    case Act::kRider:
      return Concat({R"({"provider":"api",)", dice_.OneOf(restaurant_.riders), "}"});
    case Act::kPayPart:
    case Act::kPay:
      return Paying(act == Act::kPayPart);
    case Act::kCancelDish:
    case Act::kDiscount:
    case Act::kReady:
    case Act::kOnTheWay:
    case Act::kHandOver:
    case Act::kServe:
    case Act::kClose:
      break;
  }
  return std::string(kCalls[static_cast<size_t>(act)].body);
}

std::string Sale::Placing(UtcMs now) {
  std::string body;
  json::Writer out(body);
  out.BeginObject()
      .Key("service_type")
      .Text(std::ranges::find(kServices, service_, &ServiceRow::letter)->name);
  if (service_ == 's') {
    out.Key("table_id").Text(dice_.OneOf(restaurant_.tables));
  } else if (service_ == 'd') {
    out.Members(dice_.OneOf(restaurant_.guests)).Key("delivery_price").Integer(6);
  } else {
    out.Key("order_title").Text(dice_.OneOf(kPeople));
  }
  if (dice_.Percent(10)) out.Key("comment").Text(dice_.OneOf(kOrderNotes));
  if (scheduled_in_ms_ > 0) out.Key("scheduled_delivery_date").Instant(now + scheduled_in_ms_);
  out.EndObject();
  return body;
}

std::string Sale::Dishes(bool is_again) {
  const auto courses = static_cast<int64_t>(restaurant_.courses.size());
  std::string body;
  json::Writer out(body);
  out.BeginObject().Key("combos").BeginArray();
  for (int64_t left = dice_.Between(1, is_again ? 2 : 4); left > 0; --left) {
    const int64_t first = is_again ? std::max<int64_t>(0, courses - kRoundCourses) : 0;
    const auto course = static_cast<size_t>(dice_.Between(first, courses - 1));
    const Dish& dish = dice_.OneOf(restaurant_.courses[course]);
    out.BeginObject().Members(dice_.OneOf(dish.variants));
    out.Key("quantity").Integer(dice_.Percent(70) ? 1 : dice_.Between(2, 3));
    if (dice_.Percent(15)) out.Key("comment").Text(dice_.OneOf(kDishNotes));
    out.Key("modifiers").BeginArray();
    for (const ModifierGroup& group : dish.groups) {
      if (!group.is_required && !dice_.Percent(25)) continue;
      out.Raw(dice_.OneOf(group.choices));
    }
    out.EndArray().EndObject();
  }
  out.EndArray().EndObject();
  return body;
}

std::string Sale::Paying(bool is_part) {
  const auto method = static_cast<size_t>(
      dice_.Between(1, service_ == 'd' ? kMethodsOfRiders : kMethods.size()) - 1);
  const int64_t amount = is_part ? (pending_ + 1) / 2 : pending_;
  const int64_t tip = service_ == 's' && dice_.Percent(30) ? dice_.Between(1, 4) * 250 : 0;
  constexpr int64_t kNote = 1'000;  // guests pay in notes of ten
  std::string body;
  json::Writer out(body);
  out.BeginObject().Key("payment_method_code").Text(kMethods[method]);
  out.Key("amount").Scaled(amount, kDecimals);
  if (tip > 0) out.Key("tip_amount").Scaled(tip, kDecimals);
  if (kMethods[method] == "cash") {
    out.Key("received_amount").Scaled((amount + tip + kNote - 1) / kNote * kNote, kDecimals);
  }
  out.EndObject();
  return body;
}

void Sale::Read(const json::Value& order) {
  id_ = order.Find("id")->text();
  const auto pending = ParseDecimal(order.Find("pending_amount")->number_text());
  pending_ = pending ? Scaled(*pending, kDecimals).value_or(0) : 0;
  lines_.clear();
  for (const json::Value& line : order.Find("combos")->items()) {
    if (line.Find("canceled_at")->is_null()) lines_.emplace_back(line.Find("id")->text());
  }
}

}  // namespace comanda::play
