#pragma once

// Reads JSON from clients, strictly, and reports every invalid field of a request at once.
//
// Document::Parse() builds a tree in two passes. The first (scan.h) validates the bytes against RFC
// 8259 and the limits below; the second is cJSON, which alone would accept far too much. Refused,
// with line, column and byte: invalid UTF-8, a byte order mark, nesting deeper than 32, duplicate
// keys, lone surrogates, \u0000 in keys, numbers outside the grammar or longer than 63 characters,
// raw control bytes in strings, trailing bytes, and more than kNodesMax values, because a small
// body must not become a huge tree. Numbers keep their text, so that money and quantities are
// converted exactly. cJSON ends a string at NUL; \u0000 in a string is therefore read as \u0001,
// which is forbidden likewise (contract section 1, Text) but cannot truncate the value.
//
// ObjectReader then reads the fields of one object and collects every invalid one in Errors.
//
// A Document and its readers belong to one thread at a time.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "base/decimal.h"
#include "base/problem.h"

struct cJSON;

namespace comanda::json {

// Limits of a document; beyond them Parse() refuses.
inline constexpr int kDepthMax = 32;
inline constexpr size_t kNodesMax = 400'000;

enum class Kind : uint8_t { kNull, kBoolean, kNumber, kText, kArray, kObject };

// Defined in reader.cc.
struct Tree;

// A reference to one value of a document, valid as long as the document, even after it is moved.
// Cheap to copy. An accessor for another kind than kind() throws Fault(kInternal): that one request
// fails.
class Value {
 public:
  Kind kind() const;
  bool is_null() const { return kind() == Kind::kNull; }
  // For kBoolean.
  bool boolean() const;
  // For kNumber: the text of the document, e.g. "1.250e1".
  std::string_view number_text() const;
  // For kText: unescaped.
  std::string_view text() const;
  // For kArray.
  std::vector<Value> items() const;
  // For kObject: in document order.
  std::vector<std::pair<std::string_view, Value>> members() const;
  // For kObject: case-sensitive.
  std::optional<Value> Find(std::string_view key) const;
  // The byte offset of the value in the document. Errors are sorted by it.
  size_t offset() const;
  // The canonical text: keys sorted, numbers normalised, no blanks. Two requests with equal
  // canonical texts are the same request (contract section 5).
  std::string Canonical() const;

 private:
  friend class Document;
  Value(const Tree* tree, const cJSON* node) : tree_(tree), node_(node) {}
  const Tree* tree_;
  const cJSON* node_;
};

// A parsed JSON text. Movable; owns the tree.
class Document {
 public:
  // Copies the text. Throws Refusal(kInvalidJson) that says what is wrong and where,
  // std::bad_alloc.
  static Document Parse(std::string_view text);
  // The same of what a database holds: Fault kDamaged.
  static Document ParseStored(std::string_view text);
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  Value root() const;
  // That of the root.
  std::string Canonical() const;

 private:
  explicit Document(std::unique_ptr<Tree> tree);
  std::unique_ptr<Tree> tree_;
};

// The version of cJSON linked in.
std::string LibraryVersion();

// The invalid fields of one request, in any order of addition.
class Errors {
 public:
  void Add(std::string field, FieldCode code, std::string message, size_t document_offset = 0);
  // Appends to the message of the index-th error that was added.
  void AddHint(size_t index, std::string_view hint);
  bool empty() const { return errors_.empty(); }
  size_t size() const { return errors_.size(); }
  // The first in document order, of at least one.
  const FieldError& First() const;
  // Throws Refusal(kValidationFailed) with the errors in document order, at most kFieldErrorsMax.
  // Does nothing if there are none.
  void ThrowIfAny();

 private:
  std::string Detail() const;
  std::vector<std::pair<size_t, FieldError>> errors_;
};

// What Finish() does with fields that no handler read: the live address ignores them, the sandbox
// reports unknown_field (contract section 1). kTolerated: a record that another system shows. They
// are ignored, and a field, or an item of a list, that is of another kind than is read counts as
// missing.
enum class UnknownFields : uint8_t { kIgnored, kRefused, kTolerated };

// What a text field accepts. Lengths are in Unicode characters.
struct TextRule {
  // Longer: too_long.
  size_t max = 200;
  // Shorter: empty or too_short. 0 accepts an empty text.
  size_t min = 1;
  // Free text: a probable card number is looks_like_card_number (base/text.h).
  bool card_numbers_refused = true;
  // References of other systems: only 16-digit card numbers are refused, because other lengths
  // occur as references.
  bool is_reference = false;
  // A single line without any control character (contract section 3).
  bool is_name = false;
  // A code, as a sku: what stands around it is cut (TrimmedCode(), base/text.h).
  bool is_code = false;
  // Text() takes an empty text for null. False for a field that is in every record and may be left
  // out of a change: an empty text is `empty` then.
  bool can_be_null = true;
};

// What a number field accepts. Bounds are in units of 10^-decimals, inclusive. Below `min` the
// error is must_be_positive if min is above 0 and the value is not, must_not_be_negative if the
// value is negative, else out_of_range.
struct NumberRule {
  int decimals = 0;
  int64_t min = 0;  // in units of 10^-decimals
  int64_t max = INT64_MAX;
  // below min: must_be_positive where min is above 0 and the value is <= 0, must_not_be_negative
  // where the value is < 0, else out_of_range
};

// Reads the fields of one object.
//
// The reading functions add an Errors entry for an invalid field and return nothing; for a missing
// field they return nothing, and the Require... form adds `required`. A field that is null counts
// as missing (contract section 19), unless stated otherwise, and so does an empty text where a text
// or a UUID is read (contract section 9); the Require... form adds `empty` for it. Asking for a
// field by name, in any function but Peek(), makes it known; see Finish().
class ObjectReader {
 public:
  // `path` prefixes the names of fields in errors: "" for the body, "combos[0]" for an item. If
  // `value` is not an object, wrong_type is added (on "body" for an empty path), and all reading
  // functions return nothing without further errors. A missing field has the offset of its object,
  // so it is listed before the invalid fields of that object. `errors` must outlive the reader.
  ObjectReader(Value value, std::string path, Errors& errors, UnknownFields unknown);

  // True if the field is present, null included.
  bool Has(std::string_view name);
  // True if the field is present and null, or an empty text.
  bool IsNull(std::string_view name);
  // True if the field is present and neither null nor an empty text.
  bool HasValue(std::string_view name);

  // Checks control characters, length and card numbers by `rule`; returns the text with LF for
  // CRLF.
  std::optional<std::string> Text(std::string_view name, TextRule rule = {});
  std::optional<std::string> RequireText(std::string_view name, TextRule rule = {});
  // A number in units of 10^-decimals.
  std::optional<int64_t> Number(std::string_view name, NumberRule rule);
  std::optional<int64_t> RequireNumber(std::string_view name, NumberRule rule);
  // Money in minor units: 0 to MoneyMax (base/money.h); above 0 if `positive`.
  std::optional<int64_t> Money(std::string_view name, int currency_decimals, bool positive = false);
  std::optional<int64_t> RequireMoney(std::string_view name, int currency_decimals,
                                      bool positive = false);
  std::optional<bool> Boolean(std::string_view name);
  // In a PATCH: adds `required` for each of these fields that is null, because it cannot be cleared
  // (contract section 3).
  void RefuseNull(std::initializer_list<std::string_view> names);
  // A UUID in any case, returned in lower case; else invalid_format. `can_be_null`: as
  // TextRule::can_be_null.
  std::optional<std::string> Uuid(std::string_view name, bool can_be_null = true);
  // RFC 3339 with any offset (base/time/clock.h); else invalid_format.
  std::optional<UtcMs> Instant(std::string_view name);
  // The index of the text in `words`, case-sensitive. The unknown_value message lists the words and
  // ends with `hint`.
  std::optional<size_t> OneOf(std::string_view name, const std::vector<std::string_view>& words,
                              std::string_view hint = "");
  // The items of an array, each as a reader with the path "name[i]". Errors: wrong_type,
  // too_many_items above `max`, empty unless `allow_empty`.
  std::vector<ObjectReader> Objects(std::string_view name, size_t max, bool allow_empty);
  std::vector<ObjectReader> RequireObjects(std::string_view name, size_t max);
  // A nested object.
  std::optional<ObjectReader> Object(std::string_view name);
  // An array of texts.
  std::optional<std::vector<std::string>> Texts(std::string_view name, size_t max_items,
                                                TextRule rule);
  // The value of a field without making it known, null included.
  std::optional<Value> Peek(std::string_view name) const;
  // The value unchecked, for a field whose rule the caller implements.
  std::optional<Value> Raw(std::string_view name);

  // Adds an error if the field is present, null included: fields of another endpoint, read-only
  // fields. Returns whether it is present.
  bool Refuse(std::string_view name, FieldCode code, std::string_view message);
  // Adds an error on the field, present or not.
  void Fail(std::string_view name, FieldCode code, std::string_view message);
  // Makes fields known without reading them. NothingRead() does not count them.
  void Ignore(std::initializer_list<std::string_view> names);

  // Call last. Where unknown fields are refused, adds unknown_field for each field that is not
  // known, with the nearest known name. Everywhere, the errors on required fields that are missing
  // name the unknown field that was probably meant: amount_paid for amount.
  void Finish();
  // For the message about a body without any known field: "; comments is none: did you mean
  // comment?", empty where no unknown field is near a known one.
  std::string NearMiss() const;
  // The fields that are present and not known, in document order, at most kFieldErrorsMax.
  std::vector<std::string_view> UnknownNames() const;
  // True if no present field was asked for: a PATCH without any known field. False for a value that
  // is not an object, which has its own error.
  bool NothingRead() const;

  const std::string& path() const { return path_; }
  // The offset of the object in the document; 0 if the value is not an object.
  size_t offset() const { return object_ ? object_->offset() : 0; }
  // The full path of a field as errors name it: "combos[0].quantity".
  std::string FieldPath(std::string_view name) const;
  Errors& errors() const { return *errors_; }
  UnknownFields unknown() const { return unknown_; }

 private:
  // Like Value::Find(); makes the field known.
  std::optional<Value> Find(std::string_view name);
  // Like Find(), but a field that is null is absent; so is one that is tolerated and of another
  // kind.
  std::optional<Value> FindNonNull(std::string_view name);
  std::optional<Value> FindNonNull(std::string_view name, Kind kind);
  // Adds `required` if the field is absent.
  bool Require(std::string_view name, Kind kind);
  void MakeKnown(std::string_view name);
  // The items of an array, those of that kind alone where others are tolerated; too_many_items
  // above `max`.
  std::optional<std::vector<Value>> Items(std::string_view name, size_t max, Kind kind);
  bool IsKnown(std::string_view name) const;
  std::vector<std::string_view> KnownNames() const;  // each once
  std::string UnknownMessage(std::string_view name) const;

  std::optional<Value> object_;
  std::string path_;
  Errors* errors_;
  UnknownFields unknown_;
  std::vector<std::string> known_;  // names asked for, each as often as it was
  // Required fields that are absent, each with the index of its error.
  std::vector<std::pair<std::string, size_t>> missing_;
  bool any_found_ = false;
};

}  // namespace comanda::json
