#include "orders/foreign_fields.h"

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/decimal.h"
#include "base/text.h"

namespace comanda::orders {
namespace {

using json::ObjectReader;

struct Row {
  std::string_view field;
  FieldCode code;
  std::string_view message;
};

constexpr std::array kOtherEndpoints = {
    Row{"status", FieldCode::kNotAllowed,
        "is not set here: move the order with PATCH /v1/orders/{id}/status, or cancel it with "
        "POST /v1/orders/{id}/cancel"},
    Row{"rider", FieldCode::kNotAllowed,
        "is not sent here: assign one with PUT /v1/orders/{id}/rider"},
    Row{"delivery_status", FieldCode::kNotAllowed,
        "is not set here: report it with PATCH /v1/orders/{id}/delivery-status"},
};
constexpr std::string_view kItemsElsewhere =
    "are not sent here: add items with POST /v1/orders/{id}/combos";
constexpr std::array kLists = {
    Row{"combos", FieldCode::kNotAllowed, kItemsElsewhere},
    Row{"payments", FieldCode::kNotAllowed,
        "are not sent here: register each with POST /v1/orders/{id}/payments"},
    Row{"discounts", FieldCode::kNotAllowed,
        "are not sent here: apply each with POST /v1/orders/{id}/discounts"},
};
// Other systems' names of combos. Ignoring them would lose a till's items.
constexpr std::array<std::string_view, 4> kCombosElsewhere = {"items", "line_items", "products",
                                                              "lines"};
constexpr std::array kCredential = {
    Row{"source", FieldCode::kReadOnly, "comes from the credential of the request; leave it out"},
    Row{"country_code", FieldCode::kReadOnly,
        "comes from the company that owns the key; leave it out"},
    Row{"timezone", FieldCode::kReadOnly, "comes from the company that owns the key; leave it out"},
    Row{"currency", FieldCode::kReadOnly, "comes from the company that owns the key; leave it out"},
};
constexpr std::array<std::string_view, 4> kPlacing = {"service_type", "client_id", "table_id",
                                                      "address_id"};

void RefuseRows(ObjectReader& reader, std::span<const Row> rows) {
  for (const Row& row : rows) reader.Refuse(row.field, row.code, row.message);
}

// Money of other systems

// The values with which a foreign field is ignored instead of refused.
enum class Harmless : uint8_t {
  kNull,     // null
  kNothing,  // null, 0 or empty
  kOwn,      // null, 0, empty, or the line total
};
struct MoneyRow {
  std::string_view field;
  Harmless harmless;
  std::string_view message;
};

constexpr std::string_view kDiscounts =
    "is no field here: apply a discount to the order with POST /v1/orders/{id}/discounts";
constexpr std::string_view kTip = "is no field here: send tip_amount with a payment";
constexpr std::string_view kTax = "is no field here: prices are sent with their taxes";
constexpr std::string_view kItemTotal =
    "is no field here, and is not what the line costs: send variant_price and quantity";
constexpr std::array kOfItem = {
    MoneyRow{"qty", Harmless::kNull, "is called quantity here"},
    MoneyRow{"price", Harmless::kNull, "is called variant_price here: the price of one"},
    MoneyRow{"unit_price", Harmless::kNull, "is called variant_price here: the price of one"},
    MoneyRow{"total", Harmless::kOwn, kItemTotal},
    MoneyRow{"amount", Harmless::kOwn, kItemTotal},
    MoneyRow{"discount", Harmless::kNothing, kDiscounts},
    MoneyRow{"discounts", Harmless::kNothing, kDiscounts},
    MoneyRow{"tip", Harmless::kNothing, kTip},
    MoneyRow{"tax", Harmless::kNothing, kTax},
};
constexpr std::string_view kModifierTotal =
    "is no field here, and is not what the modifier costs on this line: send price and quantity";
constexpr std::array kOfModifier = {
    MoneyRow{"qty", Harmless::kNull, "is called quantity here"},
    MoneyRow{"unit_price", Harmless::kNull, "is called price here: the price of one"},
    MoneyRow{"modifiers", Harmless::kNothing,
             "is no field of a modifier: send all of them in modifiers of the item"},
    MoneyRow{"total", Harmless::kOwn, kModifierTotal},
    MoneyRow{"amount", Harmless::kOwn, kModifierTotal},
    MoneyRow{"discount", Harmless::kNothing, kDiscounts},
    MoneyRow{"discounts", Harmless::kNothing, kDiscounts},
    MoneyRow{"tip", Harmless::kNothing, kTip},
    MoneyRow{"tax", Harmless::kNothing, kTax},
};
constexpr std::array kOfPayment = {
    MoneyRow{"qty", Harmless::kNull, "is no field of a payment: send amount"},
    MoneyRow{"price", Harmless::kNull, "is called amount here"},
    MoneyRow{"unit_price", Harmless::kNull, "is called amount here"},
    MoneyRow{"total", Harmless::kOwn, "is called amount here, and differs from it"},
    MoneyRow{"discount", Harmless::kNothing, kDiscounts},
    MoneyRow{"tip", Harmless::kNothing, "is called tip_amount here"},
    MoneyRow{"tax", Harmless::kNothing, kTax},
};

bool IsNothing(json::Value value) {
  switch (value.kind()) {
    case json::Kind::kNull:
      return true;
    case json::Kind::kBoolean:
      return false;
    case json::Kind::kNumber:
      return ParseDecimal(value.number_text()) == Decimal{};
    case json::Kind::kText:
      return Trimmed(value.text()).empty();
    case json::Kind::kArray:
      return value.items().empty();
    case json::Kind::kObject:
      return value.members().empty();
  }
  return false;
}

bool Is(json::Value value, std::optional<Minor> amount, int decimals) {
  if (!amount || value.kind() != json::Kind::kNumber) return false;
  const std::optional<Decimal> decimal = ParseDecimal(value.number_text());
  return decimal && Scaled(*decimal, decimals) == amount;
}

bool IsHarmless(json::Value value, Harmless harmless, std::span<const std::optional<Minor>> own,
                int decimals) {
  if (harmless == Harmless::kNull) return value.is_null();
  if (IsNothing(value)) return true;
  if (harmless == Harmless::kNothing) return false;
  if (!own.front()) return true;  // the line has other errors
  for (const std::optional<Minor>& amount : own) {
    if (Is(value, amount, decimals)) return true;
  }
  return false;
}

void RefuseMoney(ObjectReader& reader, std::span<const MoneyRow> rows,
                 std::span<const std::optional<Minor>> own, int decimals) {
  for (const MoneyRow& row : rows) {
    const std::optional<json::Value> sent = reader.Peek(row.field);
    if (!sent || IsHarmless(*sent, row.harmless, own, decimals)) continue;
    reader.Fail(row.field, FieldCode::kUnknownField, row.message);
  }
}

}  // namespace

void RefuseOfOtherEndpoints(ObjectReader& order) {
  RefuseRows(order, kOtherEndpoints);
  RefuseRows(order, kLists);
  for (const std::string_view name : kCombosElsewhere) {
    if (order.Peek(name)) order.Fail(name, FieldCode::kNotAllowed, kItemsElsewhere);
  }
  RefuseRows(order, kCredential);
}

void RefuseOfPlacing(ObjectReader& order) {
  for (const std::string_view field : kPlacing) {
    if (order.Raw(field)) {
      order.Fail(field, FieldCode::kNotAllowed,
                 "is set when the order is placed, with POST /v1/orders, and cannot be changed: "
                 "leave it out");
    }
  }
}

void RefuseBesideRows(ObjectReader& body, std::string_view own) {
  const auto refuse = [&](const Row& row) {
    const std::optional<json::Value> sent = body.Peek(row.field);
    if (sent && !IsNothing(*sent)) body.Fail(row.field, row.code, row.message);
  };
  for (const Row& row : kLists) {
    if (row.field != own) refuse(row);
  }
  if (own == "combos") {
    for (const std::string_view name : kCombosElsewhere) {
      refuse({name, FieldCode::kNotAllowed, "are called combos here"});
    }
  }
  for (const Row& row : kCredential) refuse(row);
}

void RefuseMoneyOfItem(ObjectReader& item, std::optional<Minor> own, int decimals) {
  RefuseMoney(item, kOfItem, std::array{own}, decimals);
}

void RefuseMoneyOfModifier(ObjectReader& modifier, std::optional<Minor> own, int decimals) {
  RefuseMoney(modifier, kOfModifier, std::array{own}, decimals);
}

void RefuseMoneyOfPayment(ObjectReader& payment, std::optional<Minor> own,
                          std::optional<Minor> with_tip, int decimals) {
  RefuseMoney(payment, kOfPayment, std::array{own, with_tip}, decimals);
}

}  // namespace comanda::orders
