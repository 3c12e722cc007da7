#pragma once

// The findings of `comanda doctor` for a person and for a program.

#include <string>

#include "base/time/clock.h"
#include "doctor/finding.h"

namespace comanda::doctor {

// Lines of at most 80 characters, except commands, which are there to be copied.
std::string AsText(const Findings& findings);

// {"state", "version", "at", "findings": [{"check", "state", "what", "why", "command"}]}; "why" and
// "command" are null where there is nothing to say. States are "well", "warning", "broken".
std::string AsJson(const Findings& findings, UtcMs at);

}  // namespace comanda::doctor
