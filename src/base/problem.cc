#include "base/problem.h"

#include <new>

#include "base/check.h"

namespace comanda {

std::string_view Name(FieldCode code) {
  switch (code) {
    case FieldCode::kRequired:
      return "required";
    case FieldCode::kWrongType:
      return "wrong_type";
    case FieldCode::kUnknownValue:
      return "unknown_value";
    case FieldCode::kInvalidFormat:
      return "invalid_format";
    case FieldCode::kTooShort:
      return "too_short";
    case FieldCode::kTooLong:
      return "too_long";
    case FieldCode::kOutOfRange:
      return "out_of_range";
    case FieldCode::kMustBePositive:
      return "must_be_positive";
    case FieldCode::kMustNotBeNegative:
      return "must_not_be_negative";
    case FieldCode::kTooManyDecimals:
      return "too_many_decimals";
    case FieldCode::kTooManyItems:
      return "too_many_items";
    case FieldCode::kTooManyProducts:
      return "too_many_products";
    case FieldCode::kEmpty:
      return "empty";
    case FieldCode::kDuplicate:
      return "duplicate";
    case FieldCode::kNotFound:
      return "not_found";
    case FieldCode::kNotAllowed:
      return "not_allowed";
    case FieldCode::kReadOnly:
      return "read_only";
    case FieldCode::kUnknownField:
      return "unknown_field";
    case FieldCode::kSkuTaken:
      return "sku_taken";
    case FieldCode::kIdOrSkuRequired:
      return "id_or_sku_required";
    case FieldCode::kIllegalMove:
      return "illegal_move";
    case FieldCode::kLooksLikeCardNumber:
      return "looks_like_card_number";
  }
  CHECK(false, "every field code has a name");
}

Refusal Invalid(std::string field, FieldCode code, std::string message) {
  std::string detail = field.empty() ? message : field + ": " + message;
  std::vector<FieldError> errors;
  errors.push_back({std::move(field), code, std::move(message)});
  return Refusal(Problem::kValidationFailed, std::move(detail), std::move(errors));
}

Fault::Kind KindOfHandled() noexcept {
  try {
    throw;
  } catch (const Fault& fault) {
    return fault.kind;
  } catch (const std::bad_alloc&) {
    return Fault::Kind::kUnavailable;
  } catch (...) {
    return Fault::Kind::kInternal;
  }
}

}  // namespace comanda
