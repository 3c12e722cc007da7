#pragma once

// GET /healthz, /readyz and /metrics (contract section 16). They need no key and show no business
// data. /healthz: the process runs. /readyz: it can take orders, with the state of each check.
// /metrics: the Prometheus text format, for the machine itself and the addresses of metrics_from.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "db/database.h"
#include "db/disk_space.h"
#include "http/context.h"
#include "http/route.h"
#include "http/site.h"
#include "net/internet.h"

namespace comanda::ops {

std::span<const http::Route> Routes();

// True if the kernel, or systemd-timesyncd, reports the wall clock as synchronised.
bool ClockIsSynchronised();
// The result of adjtimex(2) in words: "synchronised", "not synchronised", "unknown".
std::string_view ClockState(int adjtimex_result);

// What is wrong with the wall clock, and what to do; empty if nothing is known to be wrong.
std::string ClockTrouble(const Clock& clock);

// By what became of the outgoing calls.
http::Readiness CheckInternet(const net::Internet::Now& internet, UtcMs now);

// The checks of /readyz for one environment: database, rows, disk, clock, sync. Any thread.
std::vector<http::Readiness> CheckReadiness(const db::Database& database,
                                            const db::DiskSpace& space, const Clock& clock);

}  // namespace comanda::ops
