#pragma once

// A strict reader in front of cJSON, which alone accepts far too much.
//
// Parse() refuses, with the byte offset: invalid UTF-8, a byte order mark, nesting deeper than 32,
// duplicate keys, lone surrogates, \u0000 in keys, numbers outside RFC 8259's grammar, raw control
// bytes in strings, trailing bytes, numbers of more than 63 characters, and more than kNodesMax
// values (a small body must not become a huge tree). Numbers keep their text, so money and
// quantities are read exactly. cJSON ends a text at NUL, so \u0000 in a text is read as \u0001: as
// forbidden, but not lost (contract section 1, Text).
//
// ObjectReader then reads the fields of one object and notes every wrong one in Errors, so that all
// are reported at once, in document order.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/decimal.h"
#include "base/problem.h"

struct cJSON;

namespace comanda::json {

inline constexpr int kDepthMax = 32;
inline constexpr size_t kNodesMax = 400'000;

enum class Kind : uint8_t { kNull, kBoolean, kNumber, kText, kArray, kObject };

struct Tree;  // reader.cc

// One value of a document; valid as long as the document lives, also where it was moved. Cheap to
// copy.
class Value {
 public:
  Kind kind() const;
  bool is_null() const { return kind() == Kind::kNull; }
  bool boolean() const;                  // kBoolean only
  std::string_view number_text() const;  // kNumber only: as it was written
  std::string_view text() const;         // kText only
  std::vector<Value> items() const;      // kArray only
  std::vector<std::pair<std::string_view, Value>> members() const;  // kObject only, in order
  std::optional<Value> Find(std::string_view key) const;            // kObject only; exact case
  size_t offset() const;  // where in the document it began: the order in which errors are reported
  // Keys sorted, numbers normalised, no blanks: equal values have equal canonical texts
  // (contract section 5).
  std::string Canonical() const;

 private:
  friend class Document;
  Value(const Tree* tree, const cJSON* node) : tree_(tree), node_(node) {}
  const Tree* tree_;
  const cJSON* node_;
};

class Document {
 public:
  // Refusal invalid_json with what is wrong and where. The text is copied.
  static Document Parse(std::string_view text);
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  Value root() const;
  std::string Canonical() const;  // of the root

 private:
  explicit Document(std::unique_ptr<Tree> tree);
  std::unique_ptr<Tree> tree_;
};

// The version of cJSON that is linked in.
std::string LibraryVersion();

// Every wrong field of one request. Add in any order; the answer lists them in document order.
class Errors {
 public:
  void Add(std::string field, FieldCode code, std::string message, size_t document_offset = 0);
  bool empty() const { return errors_.empty(); }
  size_t size() const { return errors_.size(); }
  // validation_failed with all errors (at most kFieldErrorsMax), or nothing when there are none.
  void ThrowIfAny();

 private:
  std::string Detail() const;
  std::vector<std::pair<size_t, FieldError>> errors_;
};

// What to do with a field that nobody reads: ignored on the live address, unknown_field in the
// sandbox (contract section 1).
enum class UnknownFields : uint8_t { kIgnored, kRefused };

struct TextRule {
  size_t max = 200;                  // Unicode characters
  size_t min = 1;                    // 0: empty text is fine; else `empty`
  bool card_numbers_refused = true;  // free text: looks_like_card_number
  bool is_reference = false;         // of card numbers only those of 16 digits are refused
  bool is_name = false;              // one line without any control character
};

struct NumberRule {
  int decimals = 0;
  int64_t min = 0;  // in units of 10^-decimals
  int64_t max = INT64_MAX;
  // below min: must_be_positive where min is above 0 and the value is <= 0, must_not_be_negative
  // where the value is < 0, else out_of_range
};

// Reads one object's fields. A field that is null counts as absent (section 19) unless the caller
// asks IsNull() first. Every Read… notes a wrong field in Errors and returns nothing; a missing
// field returns nothing without an error, the Require… form notes `required`.
class ObjectReader {
 public:
  // `path` is the prefix of field names in errors: "" for the body, "combos[0]" below it.
  // A value that is no object is noted as wrong_type (on the field "body" where the path is empty),
  // and the reader then reads nothing and requires nothing. A missing field is listed where its
  // object begins: before the wrong fields of the same object.
  ObjectReader(Value value, std::string path, Errors& errors, UnknownFields unknown);

  // True where the field is there, null included.
  bool Has(std::string_view name);
  // True where the field is there and null.
  bool IsNull(std::string_view name);

  // CRLF becomes LF; C0 controls, length and card numbers are checked.
  std::optional<std::string> Text(std::string_view name, TextRule rule = {});
  std::optional<std::string> RequireText(std::string_view name, TextRule rule = {});
  // In units of 10^-decimals.
  std::optional<int64_t> Number(std::string_view name, NumberRule rule);
  std::optional<int64_t> RequireNumber(std::string_view name, NumberRule rule);
  // Money in minor units: 0 to MoneyMax. `positive`: above 0.
  std::optional<int64_t> Money(std::string_view name, int currency_decimals, bool positive = false);
  std::optional<int64_t> RequireMoney(std::string_view name, int currency_decimals,
                                      bool positive = false);
  std::optional<bool> Boolean(std::string_view name);
  // In a PATCH: notes `required` on each of these that is null, because it cannot be cleared
  // (contract section 19, Orders).
  void RefuseNull(std::initializer_list<std::string_view> names);
  // A UUID, any case, returned in lower case; else invalid_format.
  std::optional<std::string> Uuid(std::string_view name);
  std::optional<UtcMs> Instant(std::string_view name);
  // One of the words, exactly as written; returns its index. unknown_value lists the words (hint
  // added).
  std::optional<size_t> OneOf(std::string_view name, const std::vector<std::string_view>& words,
                              std::string_view hint = "");
  // The items of an array, each as a reader with its own path "name[i]". wrong_type, too_many_items
  // and (where empty is not allowed) empty are noted.
  std::vector<ObjectReader> Objects(std::string_view name, size_t max, bool allow_empty);
  std::vector<ObjectReader> RequireObjects(std::string_view name, size_t max);
  // An object below; nothing where absent.
  std::optional<ObjectReader> Object(std::string_view name);
  // Texts of an array.
  std::optional<std::vector<std::string>> Texts(std::string_view name, size_t max_items,
                                                TextRule rule);
  // The value of a field that the object does not have, null included: the field stays unknown,
  // unless the caller notes an error on it.
  std::optional<Value> Peek(std::string_view name) const;
  // The value as it stands (null counts as absent), for fields with a rule of their own.
  std::optional<Value> Raw(std::string_view name);

  // Notes an error on the field where it is present (null included): for fields of another
  // endpoint, read-only ones and so on. Returns true where it was present.
  bool Refuse(std::string_view name, FieldCode code, std::string_view message);
  // Notes an error on the field, present or not.
  void Fail(std::string_view name, FieldCode code, std::string_view message);
  // Declares fields as known without reading them; for NothingRead() they do not count.
  void Ignore(std::initializer_list<std::string_view> names);

  // At the end: fields that nobody asked for are unknown_field where unknown fields are refused.
  // The message suggests the nearest known name.
  void Finish();
  // True where none of the fields of the object was asked for by name (a PATCH without a known
  // field). False for a value that was no object: that has its own error.
  bool NothingRead() const;

  const std::string& path() const { return path_; }
  // Where the object begins in the document; 0 for a value that was no object.
  size_t offset() const { return object_ ? object_->offset() : 0; }
  std::string FieldPath(std::string_view name) const;
  Errors& errors() const { return *errors_; }
  UnknownFields unknown() const { return unknown_; }

 private:
  std::optional<Value> Find(
      std::string_view name);  // null included; the field is known from now on
  std::optional<Value> Take(std::string_view name);  // null counts as absent
  // Notes `required` where the field is absent.
  bool Require(std::string_view name);
  void Learn(std::string_view name);
  // The items of an array of at most so many.
  std::optional<std::vector<Value>> Items(std::string_view name, size_t max);
  std::string UnknownMessage(std::string_view name) const;

  std::optional<Value> object_;
  std::string path_;
  Errors* errors_;
  UnknownFields unknown_;
  std::vector<std::string> known_;  // where unknown fields are refused
  bool any_found_ = false;
};

}  // namespace comanda::json
