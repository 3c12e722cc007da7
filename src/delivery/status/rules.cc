#include "delivery/status/rules.h"

#include <algorithm>

#include "base/text.h"
#include "json/writer.h"

namespace comanda::delivery {
namespace {

constexpr std::string_view kOpening = "${";

std::string Unescaped(std::string_view segment) {
  std::string text;
  for (size_t i = 0; i < segment.size(); ++i) {
    const bool is_escape = segment[i] == '~' && i + 1 < segment.size();
    text += !is_escape ? segment[i] : segment[++i] == '1' ? '/' : '~';
  }
  return text;
}

std::optional<json::Value> ItemAt(const json::Value& array, std::string_view segment) {
  if (segment.empty() || segment.size() > 6 || !std::ranges::all_of(segment, IsDigit)) {
    return std::nullopt;
  }
  const std::vector<json::Value> items = array.items();
  const size_t index = std::stoul(std::string(segment));
  return index < items.size() ? std::optional(items[index]) : std::nullopt;
}

void AddStep(const json::Value& value, const std::string& segment, std::vector<json::Value>& out) {
  if (value.kind() == json::Kind::kArray) {
    if (segment == "*") {
      std::ranges::copy(value.items(), std::back_inserter(out));
    } else if (const auto item = ItemAt(value, segment)) {
      out.push_back(*item);
    }
  } else if (value.kind() == json::Kind::kObject) {
    if (segment == "*") {
      for (const auto& [name, member] : value.members()) out.push_back(member);
    } else if (const auto member = value.Find(segment)) {
      out.push_back(*member);
    }
  }
}

bool IsFuture(const Scalar& scalar, UtcMs now) {
  const auto instant =
      scalar.kind == Scalar::Kind::kText ? ParseInstant(scalar.text) : std::nullopt;
  return instant && *instant > now;
}

// Of one value at the path of a predicate that compares.
bool Matches(const Predicate& predicate, const json::Value& value, UtcMs now) {
  using Op = Predicate::Op;
  if (predicate.op == Op::kExists) return true;
  const std::optional<Scalar> scalar = ScalarOf(value);
  if (!scalar) return predicate.op == Op::kNe;
  if (predicate.op == Op::kFuture) return IsFuture(*scalar, now);
  if (predicate.op == Op::kPrefix) {
    return scalar->kind == Scalar::Kind::kText &&
           scalar->text.starts_with(predicate.values.front().text);
  }
  const bool is_one = std::ranges::find(predicate.values, *scalar) != predicate.values.end();
  return is_one != (predicate.op == Op::kNe);
}

}  // namespace

std::optional<std::vector<std::string>> NamesIn(std::string_view text) {
  std::vector<std::string> names;
  while (true) {
    const size_t begin = text.find(kOpening);
    if (begin == text.npos) return names;
    text.remove_prefix(begin + kOpening.size());
    const size_t end = text.find('}');
    if (end == text.npos || end == 0) return std::nullopt;
    names.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
}

std::string Expand(std::string_view text, const Variables& variables, Escape escape) {
  std::string out;
  while (true) {
    const size_t begin = text.find(kOpening);
    const size_t end = begin == text.npos ? text.npos : text.find('}', begin);
    if (end == text.npos) return out.append(text);
    out.append(text.substr(0, begin));
    const size_t name = begin + kOpening.size();
    const auto found = variables.find(std::string(text.substr(name, end - name)));
    if (found != variables.end()) out += escape(found->second);
    text.remove_prefix(end + 1);
  }
}

std::string AsIs(std::string_view value) { return std::string(value); }

std::string InJson(std::string_view value) {
  std::string quoted;
  json::AppendQuoted(quoted, value);
  return quoted.substr(1, quoted.size() - 2);
}

std::optional<Scalar> ScalarOf(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull:
      return Scalar{};
    case json::Kind::kBoolean:
      return Scalar{Scalar::Kind::kBoolean, value.boolean() ? "true" : "false"};
    case json::Kind::kNumber:
      return Scalar{Scalar::Kind::kNumber, std::string(value.number_text())};
    case json::Kind::kText:
      return Scalar{Scalar::Kind::kText, std::string(value.text())};
    case json::Kind::kArray:
    case json::Kind::kObject:
      return std::nullopt;
  }
  return std::nullopt;
}

bool IsPointer(std::string_view pointer) {
  if (!pointer.empty() && pointer.front() != '/') return false;
  for (size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] != '~') continue;
    if (i + 1 == pointer.size() || (pointer[i + 1] != '0' && pointer[i + 1] != '1')) return false;
  }
  return true;
}

std::vector<json::Value> ValuesAt(const json::Value& root, std::string_view pointer,
                                  const Variables& variables) {
  std::vector<json::Value> values = {root};
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const size_t end = std::min(pointer.find('/'), pointer.size());
    const std::string segment = Unescaped(Expand(pointer.substr(0, end), variables, AsIs));
    std::vector<json::Value> next;
    for (const json::Value& value : values) AddStep(value, segment, next);
    values = std::move(next);
    pointer.remove_prefix(end);
  }
  return values;
}

std::optional<std::string> TextAt(const json::Value& root, std::string_view pointer,
                                  const Variables& variables) {
  for (const json::Value& value : ValuesAt(root, pointer, variables)) {
    const std::optional<Scalar> scalar = ScalarOf(value);
    if (scalar && scalar->kind != Scalar::Kind::kNull) return scalar->text;
  }
  return std::nullopt;
}

bool Holds(const Predicate& predicate, const json::Value& value, const Judging& judging) {
  using Op = Predicate::Op;
  const auto holds = [&](const Predicate& part) { return Holds(part, value, judging); };
  switch (predicate.op) {
    case Op::kTrue:
      return true;
    case Op::kInHours:
      return judging.is_in_hours();
    case Op::kAnd:
      return std::ranges::all_of(predicate.parts, holds);
    case Op::kOr:
      return std::ranges::any_of(predicate.parts, holds);
    case Op::kNot:
      return !holds(predicate.parts.front());
    case Op::kEq:
    case Op::kNe:
    case Op::kIn:
    case Op::kPrefix:
    case Op::kExists:
    case Op::kFuture:
    case Op::kAny:
    case Op::kAll:
      break;
  }
  const std::vector<json::Value> values = ValuesAt(value, predicate.path, judging.variables);
  const auto matches = [&](const json::Value& one) {
    const bool is_nested = predicate.op == Op::kAny || predicate.op == Op::kAll;
    return is_nested ? Holds(predicate.parts.front(), one, judging)
                     : Matches(predicate, one, judging.now);
  };
  if (predicate.op != Op::kAll) return std::ranges::any_of(values, matches);
  return !values.empty() && std::ranges::all_of(values, matches);
}

Meaning Decide(std::span<const Rule> rules, const json::Value& answer, const Judging& judging) {
  for (const Rule& rule : rules) {
    if (!Holds(rule.condition, answer, judging)) continue;
    Meaning meaning{.status = rule.then, .reason = rule.reason};
    if (!rule.until_from.empty()) {
      const auto until = TextAt(answer, rule.until_from, judging.variables);
      if (until) meaning.until = ParseInstant(*until);
    }
    if (!rule.words_from.empty()) {
      meaning.words = TextAt(answer, rule.words_from, judging.variables).value_or("");
    }
    return meaning;
  }
  return {};
}

}  // namespace comanda::delivery
