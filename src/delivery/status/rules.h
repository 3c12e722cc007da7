#pragma once

// The language in which a provider says what its answers mean: pointers, conditions, rules and
// templates. Pure functions; nothing here throws for what an app answers. Any thread.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "delivery/provider.h"
#include "json/reader.h"

namespace comanda::delivery {

// The values of ${name}.
using Variables = std::map<std::string, std::string>;

// Names in ${…} of a template, in their order. Nothing where a ${ has no }, or a name is empty.
std::optional<std::vector<std::string>> NamesIn(std::string_view text);

// The text with each ${name} replaced by escape(value); a name without a value becomes empty, which
// the check of the file excludes.
using Escape = std::string (*)(std::string_view value);
std::string Expand(std::string_view text, const Variables& variables, Escape escape);
// Escapes: as it is, and in the text of a JSON string. In a URL: wire::PercentEncoded.
std::string AsIs(std::string_view value);
std::string InJson(std::string_view value);

// Nothing for an array or object.
std::optional<Scalar> ScalarOf(const json::Value& value);

// True for "" and for "/a/b", where ~ is followed by 0 or 1 (RFC 6901 section 3).
bool IsPointer(std::string_view pointer);
// All values at a pointer, whose segment * stands for every item or member. A pointer without * has
// one at most.
std::vector<json::Value> ValuesAt(const json::Value& root, std::string_view pointer,
                                  const Variables& variables);
// The scalar at a pointer as text; nothing where there is none.
std::optional<std::string> TextAt(const json::Value& root, std::string_view pointer,
                                  const Variables& variables);

// What a condition is judged with.
struct Judging {
  const Variables& variables;
  UtcMs now = 0;
  // Whether the restaurant is open by its own hours; asked by `in_hours` alone.
  std::function<bool()> is_in_hours = [] { return true; };
};
bool Holds(const Predicate& predicate, const json::Value& value, const Judging& judging);

// What the rules make of an answer.
struct Meaning {
  StoreStatus status = StoreStatus::kUnknown;
  Reason reason = Reason::kError;
  std::optional<UtcMs> until = {};
  std::string words = {};  // the app's own, of any length
};
// By the first rule that holds; UNKNOWN and `error` where none does.
Meaning Decide(std::span<const Rule> rules, const json::Value& answer, const Judging& judging);

}  // namespace comanda::delivery
