#pragma once

// What the service cannot use of the files that the settings name (doctor/checks/named_files.h),
// for commands that change or restore settings.

#include "base/problem.h"
#include "config/options.h"
#include "doctor/finding.h"

namespace comanda::app {

// A finding for each such file; `check` is the setting.
doctor::Findings FindFileTroubles(const config::Options& options);

// The finding with its commands, a line each. For Describe(), where it is no refusal.
Refusal AsRefusal(const doctor::Finding& finding);

}  // namespace comanda::app
