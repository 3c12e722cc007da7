#include <algorithm>

#include "base/id.h"
#include "base/money.h"
#include "base/nearest.h"
#include "base/text.h"
#include "json/reader.h"

namespace comanda::json {
namespace {

// The longest part of a client's text that an error message quotes, in bytes.
constexpr size_t kEchoMax = 100;
// The longest value that a message repeats in corrected form.
constexpr size_t kHintMax = 15;
// An object with more fields than this does not have them listed in a message.
constexpr size_t kListedFieldsMax = 25;

std::string Join(const std::vector<std::string_view>& words) {
  std::string joined;
  for (const std::string_view word : words) {
    if (!joined.empty()) joined += ", ";
    joined += word;
  }
  return joined;
}

std::string Path(const std::string& object, std::string_view name) {
  return object.empty() ? std::string(name) : object + "." + std::string(name);
}

std::string Path(const std::string& array, size_t index) {
  return array + "[" + std::to_string(index) + "]";
}

// The first kEchoMax bytes, cut at a character boundary.
std::string Echo(std::string_view text) {
  if (text.size() <= kEchoMax) return std::string(text);
  size_t end = kEchoMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

// Texts.

bool IsEmptyText(Value value) {
  return value.kind() == Kind::kText && IsBlank(WithUnixLines(value.text()));
}

std::string Characters(size_t count) {
  return std::to_string(count) + (count == 1 ? " character" : " characters");
}

std::optional<FieldError> TextError(std::string_view text, const TextRule& rule) {
  if (HasForbiddenControl(text)) {
    return FieldError{"", FieldCode::kInvalidFormat,
                      "must not contain control characters other than line breaks and tabs; a "
                      "line ends with LF or CRLF"};
  }
  if (rule.is_name && HasControl(text)) {
    return FieldError{"", FieldCode::kInvalidFormat,
                      "must be one line without tabs and other control characters"};
  }
  if (rule.min > 0 && IsBlank(text)) {
    return FieldError{"", FieldCode::kEmpty,
                      "must not be empty: send 1 to " + Characters(rule.max)};
  }
  const size_t count = CharacterCount(text);
  if (count < rule.min) {
    return FieldError{
        "", FieldCode::kTooShort,
        "must have at least " + Characters(rule.min) + ", not " + std::to_string(count)};
  }
  if (count > rule.max) {
    return FieldError{
        "", FieldCode::kTooLong,
        "must have at most " + Characters(rule.max) + ", not " + std::to_string(count)};
  }
  const CardDigits cards = rule.is_reference ? CardDigits::kSixteen : CardDigits::kAny;
  if (rule.card_numbers_refused && LooksLikeCardNumber(text, cards)) {
    return FieldError{"", FieldCode::kLooksLikeCardNumber,
                      "looks like a card number, which must not be stored: send at most the last "
                      "four digits"};
  }
  return std::nullopt;
}

std::optional<std::string> CheckedText(Value value, const std::string& path, const TextRule& rule,
                                       Errors& errors) {
  if (value.kind() != Kind::kText) {
    errors.Add(path, FieldCode::kWrongType, "must be a text in double quotes", value.offset());
    return std::nullopt;
  }
  std::string text = WithUnixLines(value.text());
  if (rule.is_code) text = TrimmedCode(text);
  if (auto error = TextError(text, rule)) {
    errors.Add(path, error->code, std::move(error->message), value.offset());
    return std::nullopt;
  }
  return text;
}

// Numbers.

std::string Amount(int64_t units, int decimals) {
  std::string text;
  AppendScaled(text, units, decimals);
  return text;
}

std::string_view Example(int decimals) {
  if (decimals == 0) return "12";
  return decimals == 1 ? "1.5" : "12.5";
}

std::string NumberForm(int decimals) {
  if (decimals == 0) return "must be a whole number, like 12";
  return "must be a number with at most " + std::to_string(decimals) +
         (decimals == 1 ? " decimal, like " : " decimals, like ") + std::string(Example(decimals));
}

bool IsNumberText(std::string_view text) {
  try {
    return Document::Parse(text).root().kind() == Kind::kNumber;
  } catch (const Refusal&) {
    return false;
  }
}

// "22.000" and "22,000": what a point or comma before three digits means depends on the country.
std::optional<std::string> EitherReading(std::string_view sent) {
  constexpr size_t kDigitsAfter = 3;
  const size_t mark = sent.find_first_of(".,");
  if (mark == sent.npos || mark == 0 || sent.size() != mark + 1 + kDigitsAfter) return std::nullopt;
  const std::string before(sent.substr(0, mark)), after(sent.substr(mark + 1));
  if (Digits(before) != before || Digits(after) != after) return std::nullopt;
  std::string decimal = before + '.' + after;
  while (decimal.ends_with('0')) decimal.pop_back();
  if (decimal.ends_with('.')) decimal.pop_back();
  return "send " + decimal + " or " + before + after + ", whichever is meant";
}

std::string NotANumber(Value value, int decimals) {
  std::string message = NumberForm(decimals);
  if (value.kind() != Kind::kText) return message;
  // A number in quotes is the most frequent mistake: the message shows the client's own number.
  const std::string_view sent = value.text();
  if (const auto readings = EitherReading(sent)) return message + ": " + *readings;
  const bool repeatable = sent.size() <= kHintMax && IsNumberText(sent);
  const std::string number(repeatable ? sent : Example(decimals));
  return message + ": send " + number + ", not \"" + number + "\"";
}

int DigitsToInt(std::string_view digits) {
  int value = 0;
  for (const char c : digits) value = std::min(value * 10 + (c - '0'), 10'000);
  return value;
}

// True if a number too long for a Decimal has too many decimals, as 0.0000000000000000001, rather
// than too many digits.
bool HasMoreDecimals(std::string_view number, int decimals) {
  const size_t e = std::min(number.find_first_of("eE"), number.size());
  const std::string_view mantissa = number.substr(0, e);
  std::string_view exponent_text = number.substr(std::min(e + 1, number.size()));
  const bool negative = exponent_text.starts_with('-');
  if (negative || exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
  const int exponent = negative ? -DigitsToInt(exponent_text) : DigitsToInt(exponent_text);
  const size_t last = mantissa.find_last_not_of("0.-");
  // The value is zero.
  if (last == std::string_view::npos) return false;
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  // The power of ten of the last significant digit.
  const int power =
      last < point ? static_cast<int>(point - last) - 1 : -static_cast<int>(last - point);
  return power + exponent < -decimals;
}

std::string Bounds(const NumberRule& rule) {
  const std::string least = Amount(rule.min, rule.decimals);
  if (rule.max == INT64_MAX) return "must be at least " + least;
  return "must be between " + least + " and " + Amount(rule.max, rule.decimals);
}

FieldError BoundsError(bool negative, bool zero, const NumberRule& rule) {
  if (rule.min > 0 && (negative || zero)) {
    return {"", FieldCode::kMustBePositive,
            "must be above 0, like " + std::string(Example(rule.decimals))};
  }
  if (rule.min == 0 && negative) {
    return {"", FieldCode::kMustNotBeNegative, "must not be negative: send 0 or more"};
  }
  return {"", FieldCode::kOutOfRange, Bounds(rule)};
}

FieldError TooManyDecimals(int decimals) {
  return {"", FieldCode::kTooManyDecimals, NumberForm(decimals)};
}

struct NumberOrError {
  int64_t units = 0;
  std::optional<FieldError> error;
};

NumberOrError CheckedNumber(std::string_view text, const NumberRule& rule) {
  const bool negative = text.starts_with('-');
  const std::optional<Decimal> decimal = ParseDecimal(text);
  if (!decimal) {
    if (HasMoreDecimals(text, rule.decimals)) return {0, TooManyDecimals(rule.decimals)};
    return {0, BoundsError(negative, false, rule)};
  }
  if (decimal->scale > rule.decimals) return {0, TooManyDecimals(rule.decimals)};
  const std::optional<int64_t> units = Scaled(*decimal, rule.decimals);
  if (!units) return {0, BoundsError(negative, false, rule)};
  if (*units < rule.min || *units > rule.max) {
    return {0, BoundsError(*units < 0, *units == 0, rule)};
  }
  return {*units, std::nullopt};
}

NumberRule MoneyRule(int currency_decimals, bool positive) {
  return {
      .decimals = currency_decimals, .min = positive ? 1 : 0, .max = MoneyMax(currency_decimals)};
}

// Words of a fixed set.

std::string UnknownWord(std::string_view sent, const std::vector<std::string_view>& words,
                        std::string_view hint) {
  std::string message = "must be one of " + Join(words);
  std::string_view meant;
  bool only_case = false;
  for (const std::string_view word : words) {
    if (!AsciiEqualsIgnoreCase(sent, word)) continue;
    meant = word;
    only_case = true;
  }
  if (!only_case) meant = Nearest(sent, words);
  if (only_case) {
    const bool lower = AsciiLower(meant) == meant;
    message +=
        std::string("; write ") + std::string(meant) + (lower ? " in lower case" : " in capitals");
  } else if (!meant.empty()) {
    message += "; did you mean " + std::string(meant) + "?";
  }
  if (!hint.empty()) message += "; " + std::string(hint);
  return message;
}

}  // namespace

// ObjectReader.

ObjectReader::ObjectReader(Value value, std::string path, Errors& errors, UnknownFields unknown)
    : path_(std::move(path)), errors_(&errors), unknown_(unknown) {
  if (value.kind() == Kind::kObject) {
    object_ = value;
    return;
  }
  errors.Add(path_.empty() ? "body" : path_, FieldCode::kWrongType,
             "must be a JSON object: fields between { and }", value.offset());
}

std::string ObjectReader::FieldPath(std::string_view name) const { return Path(path_, name); }

void ObjectReader::MakeKnown(std::string_view name) {
  if (known_.empty()) known_.reserve(kListedFieldsMax);
  known_.emplace_back(name);
}

std::vector<std::string_view> ObjectReader::KnownNames() const {
  std::vector<std::string_view> names;
  for (const std::string& name : known_) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

bool ObjectReader::IsKnown(std::string_view name) const {
  return std::find(known_.begin(), known_.end(), name) != known_.end();
}

std::optional<Value> ObjectReader::Find(std::string_view name) {
  MakeKnown(name);
  if (!object_) return std::nullopt;
  std::optional<Value> value = object_->Find(name);
  if (value) any_found_ = true;
  return value;
}

std::optional<Value> ObjectReader::FindNonNull(std::string_view name) {
  std::optional<Value> value = Find(name);
  if (value && value->is_null()) return std::nullopt;
  return value;
}

std::optional<Value> ObjectReader::FindNonNull(std::string_view name, Kind kind) {
  std::optional<Value> value = FindNonNull(name);
  const bool is_passed = value && value->kind() != kind && unknown_ == UnknownFields::kTolerated;
  return is_passed ? std::nullopt : value;
}

bool ObjectReader::Require(std::string_view name, Kind kind) {
  if (FindNonNull(name, kind)) return true;
  if (object_) Fail(name, FieldCode::kRequired, "is required and must not be null");
  return false;
}

bool ObjectReader::Has(std::string_view name) { return Find(name).has_value(); }

bool ObjectReader::IsNull(std::string_view name) {
  const std::optional<Value> value = Find(name);
  return value && (value->is_null() || IsEmptyText(*value));
}

bool ObjectReader::HasValue(std::string_view name) {
  const std::optional<Value> value = Find(name);
  return value && !value->is_null() && !IsEmptyText(*value);
}

std::optional<std::string> ObjectReader::Text(std::string_view name, TextRule rule) {
  const std::optional<Value> value = FindNonNull(name, Kind::kText);
  if (!value) return std::nullopt;
  const bool is_empty = IsEmptyText(*value) || (rule.is_code && value->kind() == Kind::kText &&
                                                TrimmedCode(value->text()).empty());
  if (is_empty && rule.can_be_null && rule.min > 0) return std::nullopt;
  return CheckedText(*value, FieldPath(name), rule, *errors_);
}

std::optional<std::string> ObjectReader::RequireText(std::string_view name, TextRule rule) {
  if (!Require(name, Kind::kText)) return std::nullopt;
  rule.can_be_null = false;
  return Text(name, rule);
}

std::optional<int64_t> ObjectReader::Number(std::string_view name, NumberRule rule) {
  const std::optional<Value> value = FindNonNull(name, Kind::kNumber);
  if (!value) return std::nullopt;
  if (value->kind() != Kind::kNumber) {
    Fail(name, FieldCode::kWrongType, NotANumber(*value, rule.decimals));
    return std::nullopt;
  }
  const NumberOrError number = CheckedNumber(value->number_text(), rule);
  if (number.error) {
    Fail(name, number.error->code, number.error->message);
    return std::nullopt;
  }
  return number.units;
}

std::optional<int64_t> ObjectReader::RequireNumber(std::string_view name, NumberRule rule) {
  if (!Require(name, Kind::kNumber)) return std::nullopt;
  return Number(name, rule);
}

std::optional<int64_t> ObjectReader::Money(std::string_view name, int currency_decimals,
                                           bool positive) {
  return Number(name, MoneyRule(currency_decimals, positive));
}

std::optional<int64_t> ObjectReader::RequireMoney(std::string_view name, int currency_decimals,
                                                  bool positive) {
  return RequireNumber(name, MoneyRule(currency_decimals, positive));
}

std::optional<bool> ObjectReader::Boolean(std::string_view name) {
  const std::optional<Value> value = FindNonNull(name, Kind::kBoolean);
  if (!value) return std::nullopt;
  if (value->kind() == Kind::kBoolean) return value->boolean();
  Fail(name, FieldCode::kWrongType, "must be true or false, without quotes");
  return std::nullopt;
}

std::optional<std::string> ObjectReader::Uuid(std::string_view name, bool can_be_null) {
  const std::optional<Value> value = FindNonNull(name, Kind::kText);
  if (!value) return std::nullopt;
  constexpr std::string_view kForm = "must be a UUID, like 0190c3a1-7f3e-7a52-9d6b-3f1c2ab45e90";
  if (value->kind() != Kind::kText) {
    Fail(name, FieldCode::kWrongType, std::string(kForm) + ", in double quotes");
    return std::nullopt;
  }
  if (can_be_null && IsEmptyText(*value)) return std::nullopt;
  std::optional<std::string> id = ParseId(value->text());
  if (!id) Fail(name, FieldCode::kInvalidFormat, kForm);
  return id;
}

std::optional<UtcMs> ObjectReader::Instant(std::string_view name) {
  const std::optional<Value> value = FindNonNull(name, Kind::kText);
  if (!value) return std::nullopt;
  constexpr std::string_view kForm =
      "must be a time with its offset as in RFC 3339, like 2026-11-20T18:03:11Z";
  if (value->kind() != Kind::kText) {
    Fail(name, FieldCode::kWrongType, std::string(kForm) + ", in double quotes");
    return std::nullopt;
  }
  const std::optional<UtcMs> instant = ParseInstant(value->text());
  if (!instant) Fail(name, FieldCode::kInvalidFormat, kForm);
  return instant;
}

std::optional<size_t> ObjectReader::OneOf(std::string_view name,
                                          const std::vector<std::string_view>& words,
                                          std::string_view hint) {
  const std::optional<Value> value = FindNonNull(name, Kind::kText);
  if (!value) return std::nullopt;
  if (value->kind() != Kind::kText) {
    Fail(name, FieldCode::kWrongType, "must be one of " + Join(words) + ", in double quotes");
    return std::nullopt;
  }
  if (value->text().empty()) {
    Fail(name, FieldCode::kEmpty, "must be one of " + Join(words) + ", not empty");
    return std::nullopt;
  }
  const auto found = std::find(words.begin(), words.end(), value->text());
  if (found != words.end()) return static_cast<size_t>(found - words.begin());
  Fail(name, FieldCode::kUnknownValue, UnknownWord(value->text(), words, hint));
  return std::nullopt;
}

std::optional<std::vector<Value>> ObjectReader::Items(std::string_view name, size_t max,
                                                      Kind kind) {
  const std::optional<Value> value = FindNonNull(name, Kind::kArray);
  if (!value) return std::nullopt;
  if (value->kind() != Kind::kArray) {
    Fail(name, FieldCode::kWrongType, "must be a list between [ and ]");
    return std::nullopt;
  }
  std::vector<Value> items = value->items();
  if (unknown_ == UnknownFields::kTolerated) {
    std::erase_if(items, [&](Value item) { return item.kind() != kind || IsEmptyText(item); });
  }
  if (items.size() > max) {
    Fail(name, FieldCode::kTooManyItems,
         "must have at most " + std::to_string(max) + (max == 1 ? " item" : " items") + ", not " +
             std::to_string(items.size()));
    return std::nullopt;
  }
  return items;
}

std::vector<ObjectReader> ObjectReader::Objects(std::string_view name, size_t max,
                                                bool allow_empty) {
  const std::optional<std::vector<Value>> items = Items(name, max, Kind::kObject);
  if (!items) return {};
  if (items->empty() && !allow_empty) {
    Fail(name, FieldCode::kEmpty, "must have at least one item");
  }
  std::vector<ObjectReader> readers;
  readers.reserve(items->size());
  for (const Value& item : *items) {
    readers.emplace_back(item, Path(FieldPath(name), readers.size()), *errors_, unknown_);
  }
  return readers;
}

std::vector<ObjectReader> ObjectReader::RequireObjects(std::string_view name, size_t max) {
  if (!Require(name, Kind::kArray)) return {};
  return Objects(name, max, false);
}

std::optional<ObjectReader> ObjectReader::Object(std::string_view name) {
  const std::optional<Value> value = FindNonNull(name, Kind::kObject);
  if (!value) return std::nullopt;
  return ObjectReader(*value, FieldPath(name), *errors_, unknown_);
}

std::optional<std::vector<std::string>> ObjectReader::Texts(std::string_view name, size_t max_items,
                                                            TextRule rule) {
  const std::optional<std::vector<Value>> items = Items(name, max_items, Kind::kText);
  if (!items) return std::nullopt;
  std::vector<std::string> texts;
  bool all_good = true;
  for (size_t i = 0; i < items->size(); ++i) {
    auto text = CheckedText((*items)[i], Path(FieldPath(name), i), rule, *errors_);
    if (text) {
      texts.push_back(*std::move(text));
    } else {
      all_good = false;
    }
  }
  if (!all_good) return std::nullopt;
  return texts;
}

std::optional<Value> ObjectReader::Raw(std::string_view name) { return FindNonNull(name); }

std::optional<Value> ObjectReader::Peek(std::string_view name) const {
  return object_ ? object_->Find(name) : std::nullopt;
}

void ObjectReader::RefuseNull(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const std::optional<Value> value = Find(name);
    if (value && value->is_null())
      Fail(name, FieldCode::kRequired, "must not be null: send a value, or leave it out");
  }
}

bool ObjectReader::Refuse(std::string_view name, FieldCode code, std::string_view message) {
  if (!Find(name)) return false;
  Fail(name, code, message);
  return true;
}

void ObjectReader::Fail(std::string_view name, FieldCode code, std::string_view message) {
  MakeKnown(name);
  size_t offset = 0;
  if (object_) {
    const std::optional<Value> value = object_->Find(name);
    offset = value ? value->offset() : object_->offset();
    if (!value && code == FieldCode::kRequired) missing_.emplace_back(name, errors_->size());
  }
  errors_->Add(FieldPath(name), code, std::string(message), offset);
}

void ObjectReader::Ignore(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) MakeKnown(name);
}

std::string ObjectReader::UnknownMessage(std::string_view name) const {
  std::string message = "is not a field of this object";
  const std::vector<std::string_view> known = KnownNames();
  for (const std::string_view other : known) {
    if (AsciiEqualsIgnoreCase(name, other)) return message + "; write " + std::string(other);
  }
  const std::string_view meant = Nearest(name, known);
  if (!meant.empty()) return message + "; did you mean " + std::string(meant) + "?";
  if (known.empty() || known.size() > kListedFieldsMax) return message + "; leave it out";
  return message + "; known are " + Join(known);
}

std::vector<std::string_view> ObjectReader::UnknownNames() const {
  std::vector<std::string_view> names;
  if (!object_) return names;
  for (const auto& [name, value] : object_->members()) {
    if (IsKnown(name)) continue;
    names.push_back(name);
    if (names.size() == kFieldErrorsMax) break;
  }
  return names;
}

std::string ObjectReader::NearMiss() const {
  for (const std::string_view name : UnknownNames()) {
    const std::string_view meant = Nearest(name, KnownNames());
    if (!meant.empty()) {
      return "; " + std::string(name) + " is none: did you mean " + std::string(meant) + "?";
    }
  }
  return "";
}

void ObjectReader::Finish() {
  // An answer lists no more than kFieldErrorsMax errors, so others need no hint.
  if (!missing_.empty() && missing_.front().second < kFieldErrorsMax) {
    const std::vector<std::string_view> unknown = UnknownNames();
    for (const auto& [name, error] : missing_) {
      errors_->AddHint(error, MeantBy(name, unknown));
    }
  }
  if (!object_ || unknown_ != UnknownFields::kRefused) return;
  size_t found = 0;
  for (const auto& [name, value] : object_->members()) {
    if (IsKnown(name)) continue;
    // An empty name is shown as "".
    errors_->Add(FieldPath(name.empty() ? "\"\"" : Echo(name)), FieldCode::kUnknownField,
                 UnknownMessage(name), value.offset());
    // Members come in document order, so the answer could not name more of them anyway.
    if (++found == kFieldErrorsMax) return;
  }
}

bool ObjectReader::NothingRead() const { return object_.has_value() && !any_found_; }

}  // namespace comanda::json
