#include "doctor/finding.h"

#include <algorithm>

#include "base/problem.h"
#include "base/text.h"
#include "json/reader.h"
#include "json/writer.h"

namespace comanda::doctor {
namespace {

std::optional<std::string> Optional(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return VisibleLines(text);
}

State StateOf(std::string_view name) {
  for (const State state : {State::kWell, State::kWarning}) {
    if (name == Name(state)) return state;
  }
  return State::kBroken;
}

std::string TextOf(const json::Value& finding, std::string_view key) {
  const auto value = finding.Find(key);
  if (!value || value->kind() != json::Kind::kText) return {};
  return std::string(value->text());
}

}  // namespace

std::string_view Name(State state) {
  switch (state) {
    case State::kWell:
      return "well";
    case State::kWarning:
      return "warning";
    case State::kBroken:
      return "broken";
  }
  return "broken";
}

Finding Well(std::string_view what) { return {.state = State::kWell, .what = std::string(what)}; }

Finding Warning(std::string_view what, std::string_view why, std::string_view command) {
  return {.state = State::kWarning,
          .what = std::string(what),
          .why = std::string(why),
          .command = std::string(command)};
}

Finding Broken(std::string_view what, std::string_view why, std::string_view command) {
  Finding finding = Warning(what, why, command);
  finding.state = State::kBroken;
  return finding;
}

State Worst(const Findings& findings) {
  State worst = State::kWell;
  for (const Finding& finding : findings) worst = std::max(worst, finding.state);
  return worst;
}

std::string ToJson(const Findings& findings) {
  std::string text;
  json::Writer out(text);
  out.BeginArray();
  for (const Finding& finding : findings) {
    out.BeginObject().Key("check").Text(finding.check).Key("state").Text(Name(finding.state));
    out.Key("what").Text(Visible(finding.what));
    out.Key("why").Text(Optional(finding.why)).Key("command").Text(Optional(finding.command));
    out.EndObject();
  }
  out.EndArray();
  return text;
}

Findings FromJson(std::string_view json) {
  const json::Document document = json::Document::Parse(json);
  if (document.root().kind() != json::Kind::kArray) {
    throw Refusal(Problem::kInvalidJson, "findings are an array");
  }
  Findings findings;
  for (const json::Value& one : document.root().items()) {
    findings.push_back({.check = TextOf(one, "check"),
                        .state = StateOf(TextOf(one, "state")),
                        .what = TextOf(one, "what"),
                        .why = TextOf(one, "why"),
                        .command = TextOf(one, "command")});
  }
  return findings;
}

}  // namespace comanda::doctor
