#pragma once

// Finds out what a cloud offers, by requests that change nothing: when it is linked, and once a
// day, because clouds are upgraded.

#include <string>
#include <vector>

#include "cloud/link/line.h"
#include "cloud/link/link.h"

namespace comanda::cloud {

// `now` becomes Features::found_at. Throws Interrupted (line.h).
Features FindFeatures(Line& line, UtcMs now);

// The scopes that the sync needs and the key lacks; empty: none. A read is tried for each scope
// that reads, and a write to a random id for each that writes: 404, or another refusal, shows that
// the scope is there. `line` must return Verdict::kScopeMissing instead of throwing for it.
std::vector<std::string> FindMissingScopes(Line& line);

}  // namespace comanda::cloud
