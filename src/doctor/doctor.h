#pragma once

// `comanda doctor`: what is well with a box and what is not. Changes nothing on it, and ends within
// seconds whatever hangs.

#include "doctor/box.h"
#include "doctor/finding.h"

namespace comanda::doctor {

// Runs every check (doctor/checks.h), each in a process of its own: a check that hangs, fails or
// crashes becomes a finding. Broken things come first, then warnings, then what is well; within
// these the order is that of the table. Blocks for some seconds at most. Fault if the system grants
// no process.
Findings Examine(const Box& box);

}  // namespace comanda::doctor
