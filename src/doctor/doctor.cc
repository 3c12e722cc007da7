#include "doctor/doctor.h"

#include "base/problem.h"
#include "base/problem_text.h"
#include "doctor/bounded.h"
#include "doctor/checks.h"

namespace comanda::doctor {
namespace {

// Longer than what a check itself waits for: a program (machine.h), an answer on the network, a
// look into a database.
constexpr int64_t kCheckMs = 8'000;

Findings Read(const Outcome& outcome) {
  constexpr std::string_view kCommand = "dmesg --level=err | tail";
  if (!outcome.result) {
    return {Broken(
        "This could not be looked at: " + outcome.failure + ".",
        "Something that this check reads hangs or is malformed. A dying disk can be the cause.",
        kCommand)};
  }
  try {
    return FromJson(*outcome.result);
  } catch (const Refusal& refusal) {
    return {Broken("This could not be looked at: " + InWords(refusal) + ".",
                   "Something that this check reads is malformed.", kCommand)};
  }
}

}  // namespace

Findings Examine(const Box& box) {
  std::vector<Work> work;
  for (const Check& check : Checks()) {
    work.emplace_back([&] { return ToJson(check.run(box)); });
  }
  const std::vector<Outcome> outcomes = RunBounded(work, kCheckMs);
  Findings unsorted;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    for (Finding& finding : Read(outcomes[i])) {
      finding.check = Checks()[i].name;
      unsorted.push_back(std::move(finding));
    }
  }
  Findings all;
  for (const State state : {State::kBroken, State::kWarning, State::kWell}) {
    for (Finding& finding : unsorted) {
      if (finding.state == state) all.push_back(std::move(finding));
    }
  }
  return all;
}

}  // namespace comanda::doctor
