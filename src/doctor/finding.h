#pragma once

// What a check of `comanda doctor` reports.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace comanda::doctor {

// A later one is worse.
enum class State : uint8_t {
  kWell,
  kWarning,  // works, and a person should do something about it
  kBroken,   // does not work, or data are in danger
};
// "well", "warning", "broken".
std::string_view Name(State state);

struct Finding {
  std::string check;  // the name of the check; the caller of the check fills it in
  State state = State::kWell;
  std::string what;     // a sentence
  std::string why;      // why it matters; empty if all is well
  std::string command;  // what to type, a command a line; empty: nothing
  bool operator==(const Finding&) const = default;
};
using Findings = std::vector<Finding>;

Finding Well(std::string_view what);
Finding Warning(std::string_view what, std::string_view why, std::string_view command = {});
Finding Broken(std::string_view what, std::string_view why, std::string_view command = {});

// The worst of them; kWell for none.
State Worst(const Findings& findings);

// As a JSON array. All texts are made visible (base/text.h), since files and other programs may
// have supplied parts of them.
std::string ToJson(const Findings& findings);
// Reads what ToJson() wrote. Refusal for any other text.
Findings FromJson(std::string_view json);

}  // namespace comanda::doctor
