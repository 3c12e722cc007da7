// Every reader of a body. The first byte picks the reader, the second how it reads; the rest is the
// body.

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>

#include "base/id.h"
#include "fuzz/fuzz.h"
#include "keys/json.h"
#include "menu/json.h"
#include "orders/json.h"
#include "orders/pricing.h"

namespace comanda {
namespace {

using fuzz::Must;

constexpr UtcMs kNow = 1'800'000'000'000;

struct How {
  int decimals = 2;
  json::UnknownFields unknown = json::UnknownFields::kIgnored;
};

void CheckMoney(Minor amount, const How& how) {
  Must(amount >= 0 && amount <= MoneyMax(how.decimals), "money has its bounds");
}

void CheckText(const std::optional<std::string>& text, size_t max) {
  if (!text) return;
  Must(IsUtf8(*text) && CharacterCount(*text) <= max, "a text has its bounds");
  Must(!HasForbiddenControl(*text) && text->find('\r') == std::string::npos,
       "a text has no control characters");
}

void CheckInstant(const std::optional<UtcMs>& instant) {
  if (!instant) return;
  Must(ParseInstant(FormatInstant(*instant)) == instant, "an instant is one");
}

// Orders

void CheckFields(const orders::FieldsDraft& fields, const How& how) {
  CheckText(fields.comment, orders::kCommentMax);
  if (fields.order_title) CheckText(*fields.order_title, 200);
  if (fields.delivery_comment) CheckText(*fields.delivery_comment, 500);
  if (fields.scheduled_delivery_date) CheckInstant(*fields.scheduled_delivery_date);
  CheckMoney(fields.delivery_price.value_or(0), how);
  CheckMoney(fields.packaging_price.value_or(0), how);
}

// Whatever lines an order has, its sums agree or it is refused.
void CheckPrices(std::vector<orders::Combo> combos, const How& how) {
  orders::Order order;
  order.currency_decimals = how.decimals;
  order.delivery_price = 650;
  order.combos = std::move(combos);
  order.discounts.resize(2);
  order.discounts[0].type = orders::DiscountType::kPercentage;
  order.discounts[0].value = 333'333;
  order.discounts[1].value = 1'000;
  if (!orders::Price(order, kNow)) return;
  const orders::Totals& totals = order.totals;
  CheckMoney(totals.subtotal, how);
  CheckMoney(totals.total, how);
  Must(totals.total == totals.subtotal + order.delivery_price - totals.total_discounts,
       "the money of an order agrees");
  Must(order.discounts[0].amount + order.discounts[1].amount == totals.total_discounts,
       "discounts are the sum of their effects");
}

void ReadCombos(const orders::Body& body, const How& how) {
  const std::vector<orders::Combo> combos = orders::ReadCombos(body, how.decimals);
  Must(!combos.empty() && combos.size() <= orders::kCombosPerCallMax, "at most so many items");
  for (const orders::Combo& combo : combos) {
    Must(combo.quantity > 0, "a quantity is above 0");
    Must(combo.modifiers.size() <= orders::kModifiersMax, "at most so many modifiers");
    CheckText(combo.product_name, 200);
    CheckText(combo.comment, 500);
    CheckMoney(combo.variant_price, how);
    CheckMoney(combo.combo_price, how);
    for (const orders::Modifier& modifier : combo.modifiers) CheckMoney(modifier.price, how);
  }
  CheckPrices(combos, how);
}

void ReadPayment(const orders::Body& body, const How& how) {
  const orders::PaymentDraft draft = orders::ReadPayment(body, how.decimals);
  Must(draft.method_id || draft.method_code, "a payment has a method");
  CheckMoney(draft.payment.amount, how);
  CheckMoney(draft.payment.tip_amount, how);
  CheckMoney(draft.payment.received_amount.value_or(0), how);
  CheckText(draft.payment.comment, 500);
  const auto is_card = [](const auto& text, CardDigits digits) {
    return text && LooksLikeCardNumber(*text, digits);
  };
  Must(!is_card(draft.payment.comment, CardDigits::kAny), "no card number is taken");
  Must(!is_card(draft.payment.reference, CardDigits::kSixteen), "no card number is taken");
}

void ReadDiscount(const orders::Body& body, const How& how) {
  const orders::Discount discount = orders::ReadDiscount(body, how.decimals);
  Must(discount.value > 0, "a discount is above 0");
  if (discount.type == orders::DiscountType::kPercentage) {
    Must(discount.value <= 1'000'000, "at most 100 %");
  } else {
    CheckMoney(discount.value, how);
  }
}

// Menu

void CheckVariant(const menu::Variant& variant, const How& how) {
  CheckText(variant.name, 200);
  CheckMoney(variant.price, how);
  CheckMoney(variant.packaging_price, how);
}

void CheckProduct(const menu::Product& product, const How& how) {
  CheckText(product.name, 200);
  for (const menu::Variant& variant : product.variants) CheckVariant(variant, how);
  for (const menu::ModifierCategory& category : product.modifier_categories) {
    CheckText(category.name, 200);
    for (const menu::Modifier& modifier : category.modifiers) CheckMoney(modifier.price, how);
  }
}

// A draft is right where no error was noted.
void ReadMenu(const menu::Form& form, const json::Document& body, const How& how) {
  company::Company company;
  company.id = "0192f0a0-0001-7000-8000-000000000001";
  company.currency_decimals = how.decimals;
  json::Errors errors;
  const menu::Draft draft = menu::ReadBody({body, how.unknown}, form, company, kNow, errors);
  errors.ThrowIfAny();
  Must(!draft.products.empty() && draft.products.size() <= menu::kUpsertMax,
       "at most so many rows");
  for (const menu::Product& product : draft.products) CheckProduct(product, how);
}

// Keys

void CheckKey(const keys::Draft& draft) {
  CheckText(draft.name, 200);
  if (draft.expires_at) CheckInstant(*draft.expires_at);
}

// All of them

using Reader = void (*)(const json::Document& body, const How& how);

constexpr Reader kReaders[] = {
    [](auto& body, auto& how) {
      CheckFields(orders::ReadOrder({body, how.unknown}, how.decimals, kNow).fields, how);
    },
    [](auto& body, auto& how) {
      CheckFields(orders::ReadFields({body, how.unknown}, how.decimals, kNow), how);
    },
    [](auto& body, auto& how) {
      ReadCombos({body, how.unknown}, how);
    },
    [](auto& body, auto& how) {
      ReadPayment({body, how.unknown}, how);
    },
    [](auto& body, auto& how) {
      ReadDiscount({body, how.unknown}, how);
    },
    [](auto& body, auto& how) {
      orders::ReadStatus({body, how.unknown});
    },
    [](auto& body, auto& how) {
      CheckText(orders::ReadCancelReason({body, how.unknown}), 500);
    },
    [](auto& body, auto& how) {
      CheckText(orders::ReadRider({body, how.unknown}, "platform").rider.name, 200);
    },
    [](auto& body, auto& how) {
      CheckText(orders::ReadDeliveryReport({body, how.unknown}).reason.value_or(std::nullopt), 500);
    },
    [](auto& body, auto& how) { ReadMenu(menu::kPostProduct, body, how); },
    [](auto& body, auto& how) { ReadMenu(menu::kPatchProduct, body, how); },
    [](auto& body, auto& how) { ReadMenu(menu::kPostVariant, body, how); },
    [](auto& body, auto& how) { ReadMenu(menu::kPatchVariant, body, how); },
    [](auto& body, auto& how) { ReadMenu(menu::kPutProducts, body, how); },
    [](auto& body, auto& how) { CheckKey(keys::ReadNewKey(body, how.unknown, kNow)); },
    [](auto& body, auto& how) { CheckKey(keys::ReadChange(body, how.unknown, kNow)); },
    [](auto& body, auto& how) { Must(keys::ReadGrace(body, how.unknown) >= 0, "a grace is none"); },
    [](auto& body, auto& how) {
      const keys::Pairing pairing = keys::ReadPairing(body, how.unknown);
      Must(pairing.code.empty() == pairing.request.has_value(),
           "a code is some text, or a request");
    },
    [](auto& body, auto& how) { CheckText(keys::ReadDeviceRequest(body, how.unknown).name, 200); },
    [](auto& body, auto& how) {
      Must(!keys::ReadAcceptance(body, how.unknown).number.empty(), "a number is some text");
    },
    [](auto& body, auto& how) { CheckText(keys::ReadNewCode(body, how.unknown).name, 200); },
};

// What a reader says of a body: nothing where it takes it, else every wrong field and its code.
struct Verdict {
  std::optional<Problem> problem;
  std::vector<std::pair<std::string, FieldCode>> fields;

  bool operator==(const Verdict&) const = default;
};

Verdict Judge(Reader read, const json::Document& body, const How& how) {
  Verdict verdict;
  try {
    read(body, how);
  } catch (const Refusal& refusal) {
    fuzz::CheckRefusal(refusal);
    Must(wire::Row(refusal.problem).status == 422, "a body that is JSON is refused for its fields");
    verdict.problem = refusal.problem;
    for (const FieldError& error : refusal.errors) {
      verdict.fields.emplace_back(error.field, error.code);
    }
    std::ranges::sort(verdict.fields);
  }
  return verdict;
}

void Run(std::string_view input) {
  const Reader read = kReaders[fuzz::TakeByte(input) % std::size(kReaders)];
  const uint8_t choice = fuzz::TakeByte(input);
  constexpr std::array<int, 3> kDecimals = {2, 0, 3};
  const How how{
      .decimals = kDecimals[choice / 2 % 3],
      .unknown = choice % 2 == 0 ? json::UnknownFields::kIgnored : json::UnknownFields::kRefused};
  std::optional<json::Document> body;
  try {
    body = json::Document::Parse(input);
  } catch (const Refusal&) {
    return;  // json.cc looks at those
  }
  const Verdict verdict = Judge(read, *body, how);
  // A retry is the same request where its canonical text is the same: so both must mean the same.
  const Verdict again = Judge(read, json::Document::Parse(body->Canonical()), how);
  if (verdict.fields.size() >= kFieldErrorsMax) return;
  Must(verdict == again, "a body and its canonical text mean the same");
}

}  // namespace
}  // namespace comanda

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  comanda::Run(comanda::fuzz::TextOf(data, size));
  return 0;
}
