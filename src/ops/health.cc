#include "ops/health.h"

#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/build_date.h"
#include "base/problem.h"
#include "json/writer.h"

namespace comanda::ops {
namespace {

http::Readiness CheckDisk(const db::DiskSpace& space) {
  constexpr std::string_view kMeaning[] = {"", ", getting full", ", no reports, no imports",
                                           ", orders and payments alone"};
  std::string state = std::to_string(space.free_bytes() / (1024 * 1024)) + " MiB free";
  state += kMeaning[static_cast<size_t>(space.fullness())];
  if (!space.has_ballast()) state += ", no ballast";
  if (space.is_read_only()) state = "read-only, " + state;
  return {.name = "disk",
          .ok = space.fullness() < db::Fullness::kOrdersOnly && !space.is_read_only(),
          .state = std::move(state)};
}

// Reported in /readyz, but does not make the box unready: the other rows can still be read and
// written.
http::Readiness CheckRows(const db::DamagedRows& rows) {
  const size_t count = rows.count();
  std::string state = "no damage is known";
  if (count > 0) {
    state = std::to_string(count) + " damaged, such as: " + rows.First();
  }
  return {.name = "rows", .ok = true, .state = state + "; " + rows.Progress()};
}

constexpr std::string_view kSynchronised = "synchronised";

std::string_view ClockState() {
  timex request{};
  return ops::ClockState(::adjtimex(&request));
}

http::Readiness CheckClock(const Clock& clock) {
  // Reported, but does not make the box unready: a wrong clock never stops orders (contract section
  // 1).
  std::string state(ClockState());
  if (const std::string trouble = ClockTrouble(clock); !trouble.empty()) state += "; " + trouble;
  return {.name = "clock", .ok = true, .state = std::move(state)};
}

// These answers are never cached and have no entity tag. Parameters are ignored: monitors append
// random ones to bypass caches.
http::Response Healthz(http::Context&) {
  return {{.body = R"({"status":"ok"})", .cache = http::Cache::kNoStore}};
}

http::Response Readyz(http::Context& ctx) {
  const std::vector<http::Readiness> checks = ctx.site().readiness();
  const bool ready = std::ranges::all_of(checks, &http::Readiness::ok);

  http::Response response{{.status = ready ? 200 : 503, .cache = http::Cache::kNoStore}};
  json::Writer out(response.body);
  out.BeginObject().Key("status").Text(ready ? "ready" : "not_ready").Key("checks").BeginObject();
  for (const http::Readiness& check : checks) {
    out.KeyOf(check.name).BeginObject();
    out.Key("ok").Boolean(check.ok).Key("state").Text(check.state);
    if (!check.code.empty()) out.Key("code").Text(check.code);
    if (check.since) out.Key("since").Instant(*check.since);
    for (const auto& [name, count] : check.counts) out.KeyOf(name).Integer(count);
    out.EndObject();
  }
  out.EndObject().EndObject();
  if (!ready) response.headers.emplace_back("Retry-After", "5");
  return response;
}

bool IsLoopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1" || address.starts_with("::ffff:127.");
}

http::Response Metrics(http::Context& ctx) {
  const std::string& client = ctx.request().client_address;
  const auto& allowed = ctx.site().options.metrics_from;
  if (!ctx.request().local && !IsLoopback(client) &&
      std::ranges::find(allowed, client) == allowed.end()) {
    throw Refusal(Problem::kAddressNotAllowed,
                  "Metrics are read on the box itself, or from an address named in the setting "
                  "metrics_from.");
  }
  return {{.body = ctx.site().metrics.Text(),
           .content_type = "text/plain; version=0.0.4; charset=utf-8",
           .cache = http::Cache::kNoStore}};
}

constexpr std::array kRoutes = {
    http::Open(http::Method::kGet, "/healthz", Healthz),
    http::Open(http::Method::kGet, "/readyz", Readyz),
    http::Open(http::Method::kGet, "/metrics", Metrics),
};

}  // namespace

http::Readiness CheckInternet(const net::Internet::Now& internet, UtcMs now) {
  // Reported, and never makes the box unready: it sells without the internet.
  http::Readiness check{.name = "internet", .ok = true, .code = net::Name(internet.state)};
  const std::string since = FormatInstant(now - internet.since_ms);
  switch (internet.state) {
    case net::Internet::State::kUnknown:
      check.state = "not known: no call outside the local network shows it";
      break;
    case net::Internet::State::kOk:
      check.state = "last reached " + since;
      break;
    case net::Internet::State::kDown:
      check.state = "cannot be reached since " + since;
      check.since = now - internet.since_ms;
      break;
  }
  return check;
}

std::span<const http::Route> Routes() { return kRoutes; }

bool ClockIsSynchronised() { return ClockState() == kSynchronised; }

std::string_view ClockState(int adjtimex_result) {
  if (adjtimex_result == TIME_ERROR) return "not synchronised";
  if (adjtimex_result >= 0) return kSynchronised;
  // Under ProtectClock=yes (systemd) adjtimex(2) is forbidden; systemd-timesyncd leaves this file.
  return ::access("/run/systemd/timesync/synchronized", F_OK) == 0 ? kSynchronised : "unknown";
}

std::string ClockTrouble(const Clock& clock) {
  constexpr std::string_view kWhatToDo =
      "give the box a time server (`comanda doctor` says how), or set it by hand (`date -s`)";
  const UtcMs now = clock.Now();
  if (now < BuildDate()) {
    return "it shows " + FormatInstant(now) + ", and this program was built on " +
           FormatInstant(BuildDate()).substr(0, 10) + "; " + std::string(kWhatToDo);
  }
  // They differ only after a step that SettledClock has not accepted yet.
  const UtcMs settled = clock.RetentionNow();
  if (now == settled) return {};
  return "it was stepped to " + FormatInstant(now) + ", and without the step it would be " +
         FormatInstant(settled) + "; if it is wrong: " + std::string(kWhatToDo);
}

std::vector<http::Readiness> CheckReadiness(const db::Database& database,
                                            const db::DiskSpace& space, const Clock& clock) {
  const db::Health health = database.health();
  return {
      {.name = "database",
       .ok = health.writable,
       .state = health.writable ? "writable" : health.reason},
      CheckRows(database.damaged_rows()),
      CheckDisk(space),
      CheckClock(clock),
  };
}

}  // namespace comanda::ops
