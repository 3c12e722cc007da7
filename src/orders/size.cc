#include "orders/size.h"

#include <string>
#include <utility>
#include <vector>

#include "base/problem.h"
#include "orders/record.h"

namespace comanda::orders {
namespace {

std::string Kibibytes(size_t bytes) { return std::to_string(bytes / 1024) + " KiB"; }

std::string TooLarge(size_t bytes, size_t max) {
  return "would make the record of the order " + std::to_string(bytes) + " bytes: it has at most " +
         Kibibytes(max);
}

Refusal TooManyItems(std::string_view list, size_t bytes) {
  return Invalid(std::string(list), FieldCode::kTooManyItems,
                 TooLarge(bytes, kRecordBytesMax) +
                     ", cancelled rows included: place another order for the rest");
}

Refusal TooLong(const std::vector<std::string_view>& fields, size_t bytes, size_t max) {
  std::vector<FieldError> errors;
  for (const std::string_view field : fields) {
    errors.push_back({std::string(field), FieldCode::kTooLong, TooLarge(bytes, max)});
  }
  std::string detail = errors.front().field + ": " + errors.front().message;
  return Refusal(Problem::kValidationFailed, std::move(detail), std::move(errors));
}

std::vector<std::string_view> ChangedTexts(const Order& before, const Order& after) {
  std::vector<std::string_view> fields;
  if (before.comment != after.comment) fields.push_back("comment");
  if (before.order_title != after.order_title) fields.push_back("order_title");
  if (before.delivery_comment != after.delivery_comment) fields.push_back("delivery_comment");
  return fields;
}

void RequireSizeOfTexts(const Order& before, const Order& after, size_t bytes) {
  const std::vector<std::string_view> fields = ChangedTexts(before, after);
  if (fields.empty()) return;
  if (bytes <= Render(before).size()) return;  // the change makes the record smaller
  throw TooLong(fields, bytes, kRecordBytesMax);
}

void RequireSizeOfPayment(const Order& before, const Payment& payment, size_t bytes) {
  std::vector<std::string_view> fields;
  if (payment.reference) fields.push_back("reference");
  if (payment.comment) fields.push_back("comment");
  if (fields.empty() || Render(before).size() > kPaidRecordBytesMax) return;
  throw TooLong(fields, bytes, kPaidRecordBytesMax);
}

}  // namespace

void RequireSize(const Order& before, const Order& after, std::string_view record, Adds adds) {
  const size_t bytes = record.size();
  if (bytes <= kRecordBytesMax) return;
  switch (adds) {
    case Adds::kLittle:
      return;
    case Adds::kCombos:
      throw TooManyItems("combos", bytes);
    case Adds::kDiscount:
      throw TooManyItems("discounts", bytes);
    case Adds::kPayment:
      if (bytes > kPaidRecordBytesMax) {
        RequireSizeOfPayment(before, after.payments.back(), bytes);
      }
      return;
    case Adds::kTexts:
      RequireSizeOfTexts(before, after, bytes);
      return;
  }
}

void RequireSizeOfWhole(std::string_view record, size_t added_bytes) {
  const size_t bytes = record.size() + added_bytes;
  if (bytes > kRecordBytesMax) throw TooManyItems("combos", bytes);
}

void RequireCap(size_t count, size_t max, std::string_view noun) {
  if (count <= max) return;
  throw Invalid(std::string(noun), FieldCode::kTooManyItems,
                "would be " + std::to_string(count) + ": an order has at most " +
                    std::to_string(max) + " " + std::string(noun) + ", cancelled ones included");
}

}  // namespace comanda::orders
