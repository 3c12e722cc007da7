#include <signal.h>
#include <time.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "app/storage.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/problem.h"
#include "base/time/clock.h"
#include "db/postgresql/owner.h"
#include "json/writer.h"
#include "ops/certificates.h"
#include "ops/systemd.h"
#include "wire/problem.h"
#include "wire/server.h"
#include "wire/tls.h"

namespace comanda::app {
namespace {

constexpr int kWorkers = 16;
constexpr int kRetryAfterS = 2;
constexpr time_t kLookEveryS = 1;

// What the standby answers with, which its one thread renews.
class Door {
 public:
  explicit Door(const config::Options& options)
      : errors_base_(options.errors_base),
        gauge_(metrics_, "comanda_standby", "1 while another process serves the database.",
               [] { return 1.0; }) {}

  metrics::Registry& metrics() { return metrics_; }
  void Note(std::string state) {
    const std::lock_guard lock(mutex_);
    state_ = std::move(state);
  }

  void Handle(wire::Exchange& exchange) {
    const wire::Request& request = exchange.request;
    std::string state;
    {
      const std::lock_guard lock(mutex_);
      state = state_;
    }
    if (request.path == "/healthz") {
      exchange.response.body = R"({"status":"ok"})";
    } else if (request.path == "/metrics") {
      exchange.response.content_type = "text/plain; version=0.0.4; charset=utf-8";
      exchange.response.body = metrics_.Text();
    } else if (request.path == "/readyz") {
      exchange.response.status = 503;
      json::Writer out(exchange.response.body);
      out.BeginObject().Key("status").Text("not_ready").Key("checks").BeginObject();
      out.Key("standby")
          .BeginObject()
          .Key("ok")
          .Boolean(false)
          .Key("state")
          .Text(state)
          .EndObject();
      out.EndObject().EndObject();
      exchange.response.headers.emplace_back("Retry-After", std::to_string(kRetryAfterS));
    } else {
      Refusal refusal(Problem::kStandby, "Another server serves this database: " + state + ".");
      refusal.retry_after_s = kRetryAfterS;
      exchange.response =
          wire::ProblemResponse(refusal, errors_base_, request.path, request.request_id);
    }
  }

 private:
  const std::string errors_base_;
  metrics::Registry metrics_;
  metrics::Gauge gauge_;
  std::mutex mutex_;
  std::string state_;  // guarded by mutex_
};

// What is known of the owner; nothing where there is none. Where the server cannot be reached,
// `state` says why, and nobody serves.
struct Look {
  std::optional<db::OwnerNote> owner;
  bool is_free = false;
  std::string state;
};

Look LookAt(const config::Options& options) {
  Look look;
  try {
    const std::optional<db::OwnerNote> owner =
        db::FindOwner(StorageSettings(auth::Mode::kLive, options), SystemClock());
    if (!owner) {
      look.is_free = true;
      return look;
    }
    look.owner = owner;
    look.state = "standby of " + owner->host + ", term " + std::to_string(owner->term);
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kUnavailable) throw;
    look.state = fault.cause;
  }
  return look;
}

bool WasStopped() {
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTERM);
  ::sigaddset(&stop, SIGINT);
  const timespec pause{.tv_sec = kLookEveryS, .tv_nsec = 0};
  return ::sigtimedwait(&stop, nullptr, &pause) > 0;
}

}  // namespace

Awaited AwaitDatabase(const config::Options& options, Listeners& listeners) {
  Awaited awaited;
  Look look = LookAt(options);
  if (look.is_free) return awaited;
  log::Notice("waiting for the database", {{"state", look.state}});
  const ops::Names names = ops::MachineNames(options);
  ops::Certificates certificates(options, names, SystemClock());
  wire::Tls tls(certificates.pair());
  Door door(options);
  std::vector<Listener> taken = listeners.Take(Role::kRestaurant);
  wire::ServerSettings settings{
      .workers = kWorkers,
      .takes_keys = false,
      .name = "https",
      .host_allowed = [&](std::string_view host) { return names.Allows(host); },
      .errors_base = options.errors_base};
  for (const Listener& listener : taken) settings.listeners.push_back(listener.fd.get());
  door.Note(look.state);
  {
    wire::Server server(
        std::move(settings), [&](wire::Exchange& exchange) { door.Handle(exchange); }, &tls,
        SystemClock(), door.metrics());
    ops::Notify("READY=1\nSTATUS=" + look.state);
    while (!look.is_free) {
      if (look.owner) awaited.note = look.owner;
      if (WasStopped()) {
        awaited.is_stopped = true;
        break;
      }
      ops::Notify("WATCHDOG=1");
      look = LookAt(options);
      if (!look.is_free) door.Note(look.state);
    }
    server.Stop(1'000);
  }
  listeners.GiveBack(Role::kRestaurant, std::move(taken));
  if (!awaited.is_stopped) log::Notice("taking over the database");
  return awaited;
}

}  // namespace comanda::app
