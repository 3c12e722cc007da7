#pragma once

// GET /healthz, /readyz, /metrics (contract section 16): no key, no business data.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "db/database.h"
#include "db/disk_space.h"
#include "http/context.h"
#include "http/route.h"

namespace comanda::ops {

std::span<const http::Route> Routes();

// Whether the system vouches for its clock.
bool ClockIsSynchronised();
// What adjtimex(2) said, in words.
std::string_view ClockState(int adjtimex_result);

// What is wrong with the clock, and what to do; empty where nothing is known to be.
std::string ClockTrouble(const Clock& clock);

// The lines of /readyz for one environment: database, rows, disk, clock, sync.
std::vector<http::Readiness> CheckReadiness(const db::Database& database,
                                            const db::DiskSpace& space, const Clock& clock);

}  // namespace comanda::ops
