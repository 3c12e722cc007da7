#include "app/app.h"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

#include "app/import.h"
#include "app/served.h"
#include "app/setup_port.h"
#include "base/log.h"
#include "base/problem.h"
#include "company/companies.h"
#include "ops/addresses.h"
#include "ops/health.h"
#include "ops/local_name.h"
#include "ops/systemd.h"
#include "wire/problem.h"

namespace comanda::app {
namespace {

constexpr int kControlWorkers = 4;
constexpr int64_t kDrainMs = 10'000;
constexpr int64_t kWatchEveryMs = 1'000;
constexpr int64_t kNamesEveryMs = 60'000;
// Limits how often a clock that steps repeatedly can make a new certificate.
constexpr int64_t kNamesAfterStepMs = 5'000;
constexpr int64_t kChoresEveryMs = 60'000;
// The longest time between two heartbeats of the chores: several write jobs, each of which waits
// for a busy writer on a slow disk.
constexpr int64_t kChoreMaxMs = 10 * 60'000;

log::Level LevelOf(std::string_view name) {
  if (name == "error") return log::Level::kError;
  if (name == "warning") return log::Level::kWarning;
  if (name == "notice") return log::Level::kNotice;
  if (name == "debug") return log::Level::kDebug;
  return log::Level::kInfo;
}

std::unique_ptr<wire::Server> ControlServer(const std::string& path, wire::Handler handler,
                                            const config::Options& options, const Clock& clock,
                                            metrics::Registry& metrics) {
  wire::ServerSettings settings{.listen = path,
                                .workers = kControlWorkers,
                                .tls = false,
                                .local = true,
                                .host_allowed = {},
                                .errors_base = options.errors_base};
  return std::make_unique<wire::Server>(std::move(settings), std::move(handler), nullptr, clock,
                                        metrics);
}

// Imports the demo restaurant into an empty sandbox.
void SeedSandbox(db::Database& database) {
  const bool is_empty =
      database.Read([](db::Snapshot& snapshot) { return company::All(snapshot).empty(); });
  if (is_empty) ImportDemo(database);
}

// Logs what `work` throws and returns normally. For work that is repeated later or is optional.
template <typename Work>
void Attempt(std::string_view consequence, Work&& work) {
  try {
    work();
  } catch (const std::exception& error) {
    log::Error(consequence, {{"why", error.what()}});
  }
}

constexpr std::string_view kAnyV4 = "0.0.0.0";
constexpr std::string_view kStandardPort = ":443";

bool IsAnyAddress(std::string_view address) { return address == kAnyV4 || address == "[::]"; }

// A name or address as in a URL: IPv6 in brackets.
std::string InUrl(std::string_view host) {
  const bool is_v6 = host.find(':') != host.npos;
  return is_v6 ? "[" + std::string(host) + "]" : std::string(host);
}

sigset_t HandledSignals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, signal);
  return signals;
}

}  // namespace

App::App(const config::Options& options, db::DirectoryLock lock, Listeners listeners,
         const std::optional<db::OwnerNote>& standby_note)
    : clock_(SystemClock(), ops::ClockIsSynchronised),
      options_(options),
      lock_(std::move(lock)),
      copies_(options_, metrics_),
      heartbeats_(clock_),
      space_(SpaceOf(options_), metrics_),
      network_(heartbeats_, metrics_),
      process_{.options = options_,
               .clock = clock_,
               .space = space_,
               .answer_budget = answer_budget_,
               .heartbeats = heartbeats_,
               .metrics = metrics_,
               .network = &network_},
      live_(process_,
            {.mode = auth::Mode::kLive,
             .standby_note = standby_note,
             .upgrading = ops::NotifyUpgrading,
             .more_checks = [this](std::vector<http::Readiness>& checks) { AddReadiness(checks); },
             .authority_pem = [this] { return certificates_.authority_pem(); },
             .listened = [this] { return listened_[static_cast<size_t>(Role::kRestaurant)]; }}),
      sandbox_([this](const Upgrading& upgrading) { return OpenSandbox(upgrading); },
               !options_.sandbox_listen.empty(), options_.errors_base, ops::NotifyUpgrading),
      clock_watch_(clock_, live_.environment().database(), live_.environment().marks()),
      names_(std::make_shared<ops::Names>(ops::MachineNames(options_))),
      certificates_(options_, *names_, clock_),
      tls_(certificates_.pair()) {
  SetLogLevel();
  NoteFiles();
  const Taken taken = TakeAll(listeners);  // before the first request, which may ask for them
  if (!space_.is_read_only()) OpenControl();
  copies_.LookAtLeftovers(space_.is_read_only());
  FollowAddresses();
  OpenServers(taken);
}

// Reported, but does not make the box unready: selling does not depend on the sandbox, and a wrong
// clock is not to stop it.
void App::AddReadiness(std::vector<http::Readiness>& checks) {
  const char* trouble = sandbox_.trouble();
  if (trouble) checks.push_back({.name = "sandbox", .ok = true, .state = trouble});
  const std::string certificate = certificates_.trouble();
  if (!certificate.empty()) {
    checks.push_back({.name = "certificate", .ok = true, .state = certificate});
  }
  std::string files = files_.Trouble();
  if (certificates_.is_newer_on_disk()) {
    files += std::string(files.empty() ? "" : "; ") +
             "tls/server.crt is newer than what is used: `systemctl reload comanda`";
  }
  if (!files.empty()) checks.push_back({.name = "files", .ok = true, .state = files});
  copies_.AddReadiness(live_.environment().database(), checks, clock_.RetentionNow());
}

App::Taken App::TakeAll(Listeners& listeners) {
  Taken taken;
  for (size_t role = 0; role < kRoles; ++role) {
    taken[role] = listeners.Take(static_cast<Role>(role));
    for (const Listener& listener : taken[role]) listened_[role].push_back(listener.address);
  }
  return taken;
}

void App::OpenServers(const Taken& taken) {
  // The restaurant's last: once it answers, the others do.
  sandbox_https_ = Listen(Role::kSandbox, taken[static_cast<size_t>(Role::kSandbox)]);
  setup_ = Listen(Role::kSetup, taken[static_cast<size_t>(Role::kSetup)]);
  https_ = Listen(Role::kRestaurant, taken[static_cast<size_t>(Role::kRestaurant)]);
}

std::unique_ptr<Instance> App::OpenSandbox(const Upgrading& upgrading) {
  auto sandbox = std::make_unique<Instance>(
      process_, InstanceSettings{
                    .mode = auth::Mode::kTest,
                    .upgrading = upgrading,
                    .authority_pem = [this] { return certificates_.authority_pem(); },
                    .listened = [this] { return listened_[static_cast<size_t>(Role::kSandbox)]; }});
  if (!options_.sandbox_listen.empty()) SeedSandbox(sandbox->environment().database());
  return sandbox;
}

// Both databases are on one server, where there is one: while it does not answer, another process
// may own them, and nothing is answered from memory either.
bool App::RefuseWithoutDatabase(wire::Exchange& exchange) {
  const std::string& path = exchange.request.path;
  const bool asks_the_process = path == "/healthz" || path == "/metrics";
  if (asks_the_process || live_.environment().database().IsServing()) return false;
  Refusal refusal(Problem::kServiceUnavailable,
                  "The database has not answered for some seconds; try again shortly.");
  refusal.retry_after_s = 2;
  exchange.response =
      wire::ProblemResponse(refusal, options_.errors_base, path, exchange.request.request_id);
  return true;
}

// Looks again behind the handler, which may have been stopped half-way, with the whole process or
// its database server: what it says is then from before another one took over. A write that says it
// is done gets no answer: a refusal would say that it is not.
void App::HandleWithDatabase(wire::Exchange& exchange, const wire::Handler& handle) {
  if (RefuseWithoutDatabase(exchange)) return;
  handle(exchange);
  const bool says_done = !wire::IsRead(exchange.request.method) && exchange.response.status < 400;
  if (says_done && !live_.environment().database().IsServing()) throw wire::NoAnswer();
  RefuseWithoutDatabase(exchange);
}

wire::Handler App::LiveHandler() {
  return [this](wire::Exchange& exchange) {
    HandleWithDatabase(exchange,
                       [this](wire::Exchange& inner) { live_.dispatcher().Handle(inner); });
  };
}

wire::Handler App::SandboxHandler() {
  return [this](wire::Exchange& exchange) {
    HandleWithDatabase(exchange, [this](wire::Exchange& inner) { sandbox_.Handle(inner); });
  };
}

// On a nearly full disk info-level lines are suppressed (db::Fullness::kTight).
void App::SetLogLevel() {
  const log::Level most =
      space_.fullness() >= db::Fullness::kTight ? log::Level::kNotice : log::Level::kDebug;
  log::SetLevel(std::min(LevelOf(options_.log_level), most));
}

void App::OpenControl() {
  if (!control_) {
    control_ = ControlServer(options_.data_directory + "/control.sock", LiveHandler(), options_,
                             clock_, metrics_);
  }
  sandbox_control_ = ControlServer(
      options_.data_directory + "/control-test.sock",
      [this](wire::Exchange& exchange) { sandbox_.HandleLocal(exchange); }, options_, clock_,
      metrics_);
}

// Stops the servers in parallel: each may wait kDrainMs for a client that does not read its answer,
// and systemd limits the time of the whole stop.
void App::StopServers() {
  std::vector<std::jthread> beside;
  for (wire::Server* server :
       {sandbox_https_.get(), setup_.get(), control_.get(), sandbox_control_.get()}) {
    if (!server) continue;
    try {
      beside.emplace_back([server] { server->Stop(kDrainMs); });
    } catch (const std::system_error&) {  // the system grants no thread
      server->Stop(kDrainMs);
    }
  }
  https_->Stop(kDrainMs);
}

App::~App() {
  ops::Notify("STOPPING=1");
  log::Notice("stopping: answering what was accepted");
  chores_.reset();
  ends_.reset();
  checks_.reset();
  live_.StopWaiting();
  if (Instance* sandbox = sandbox_.instance()) sandbox->StopWaiting();
  StopServers();
  Attempt("when keys were last used is not written down", [this] {
    live_.environment().FlushKeyUse();
    if (Instance* sandbox = sandbox_.instance()) sandbox->environment().FlushKeyUse();
  });
  NoteAuthority();
  Attempt("the time of the stop is not written down", [this] {
    live_.environment().marks().Renew();
    if (Instance* sandbox = sandbox_.instance()) sandbox->environment().marks().Renew();
  });
}

// Null where the role has no listener.
std::unique_ptr<wire::Server> App::Listen(Role role, const std::vector<Listener>& taken) {
  if (taken.empty()) return nullptr;

  const bool is_setup = role == Role::kSetup;
  const bool is_live = role == Role::kRestaurant;
  wire::ServerSettings settings =
      is_setup
          ? SetupSettings()
          : wire::ServerSettings{
                .workers = WorkersOf(is_live ? auth::Mode::kLive : auth::Mode::kTest, options_),
                .tls = true,
                .name = is_live ? "https" : "https-test",
                .host_allowed = [this](std::string_view host) { return HostAllowed(host); }};
  settings.errors_base = options_.errors_base;
  for (const std::string& range : options_.proxy_networks) {
    settings.proxies.push_back(*AddressRange::Parse(range));
  }
  settings.heartbeats = &heartbeats_;
  settings.leaves_connections_waiting = ops::UnderSystemd();
  for (const Listener& listener : taken) settings.listeners.push_back(listener.fd.get());
  wire::Handler handler;
  if (is_setup) {
    handler = SetupHandler([this](std::string_view host) { return HttpsAddressFor(host); },
                           [this] { return certificates_.authority_pem(); }, options_.errors_base);
  } else {
    handler = [this,
               answer = is_live ? LiveHandler() : SandboxHandler()](wire::Exchange& exchange) {
      answer(exchange);
      if (exchange.authenticated()) certificates_.RecordTrust();
    };
  }
  return std::make_unique<wire::Server>(std::move(settings), std::move(handler), &tls_, clock_,
                                        metrics_);
}

std::vector<std::string> App::AddressesOf(Role role) const {
  const std::string scheme = role == Role::kSetup ? "http://" : "https://";
  std::vector<std::string> all;
  for (const std::string& listened : listened_[static_cast<size_t>(role)]) {
    const size_t colon = listened.rfind(':');
    const std::string address = listened.substr(0, colon);
    const std::string port = listened.substr(colon);
    if (!IsAnyAddress(address)) {
      all.push_back(scheme + listened);
      continue;
    }
    for (const std::string& one : names_->addresses) {
      const bool is_v6 = one.find(':') != std::string::npos;
      if (is_v6 && address == kAnyV4) continue;
      all.push_back(scheme + InUrl(one) + port);
    }
  }
  return all;
}

// An address on the standard port is preferred. A host that is none of this machine's is not
// repeated.
std::string App::HttpsAddressFor(std::string_view host) const {
  const std::vector<std::string>& all = listened_[static_cast<size_t>(Role::kRestaurant)];
  const auto standard = std::ranges::find_if(
      all, [](const std::string& one) { return one.ends_with(kStandardPort); });
  const std::string& listened = standard == all.end() ? all.front() : *standard;
  const size_t colon = listened.rfind(':');
  std::string address = listened.substr(0, colon);
  if (IsAnyAddress(address)) {
    const std::lock_guard lock(names_mutex_);
    const bool is_own = !host.empty() && names_->Allows(host);
    address = is_own ? InUrl(host) : ops::LocalName();
  }
  return "https://" + address + (listened.ends_with(kStandardPort) ? "" : listened.substr(colon));
}

std::string App::CertificateFingerprint() const {
  return crypto::Inspect(certificates_.pair().certificate_pem).fingerprint_sha256;
}

bool App::HasCompany() {
  try {
    return live_.environment().database().Read(
        [](db::Snapshot& snapshot) { return !company::All(snapshot).empty(); });
  } catch (const Fault&) {  // there is one, and it is damaged
    return true;
  }
}

void App::RunUntilSignal(const std::function<config::Options()>& reload) {
  chores_.emplace(events::WorkerSettings{.name = "chores", .heartbeat_max_ms = kChoreMaxMs},
                  heartbeats_, metrics_,
                  [this, is_first = true](events::Worker::Pass& pass) mutable {
                    const bool is_retry = !std::exchange(is_first, false);
                    if (is_retry && sandbox_.IsMissing() && !space_.is_read_only())
                      RetrySandbox(pass);
                    DoChores(pass);
                    return events::Worker::Done{.due_in_ms = kChoresEveryMs};
                  });
  ends_.emplace(events::WorkerSettings{.name = "ends", .heartbeat_max_ms = kChoreMaxMs},
                heartbeats_, metrics_, [this](events::Worker::Pass&) {
                  return events::Worker::Done{.due_in_ms = WriteDownEnds()};
                });
  checks_.emplace(events::WorkerSettings{.name = "checks", .heartbeat_max_ms = kChoreMaxMs},
                  heartbeats_, metrics_, [this](events::Worker::Pass& pass) {
                    int64_t due_in_ms = live_.environment().CheckPart(pass);
                    if (Instance* sandbox = sandbox_.instance()) {
                      due_in_ms = std::min(due_in_ms, sandbox->environment().CheckPart(pass));
                    }
                    return events::Worker::Done{.due_in_ms = due_in_ms};
                  });
  ops::Notify("READY=1\nSTATUS=serving");
  const sigset_t signals = HandledSignals();
  while (true) {
    const timespec wait{.tv_sec = 0, .tv_nsec = 500'000'000};
    const int signal = ::sigtimedwait(&signals, nullptr, &wait);
    if (signal == SIGTERM || signal == SIGINT) return;
    if (signal == SIGHUP) {
      ops::NotifyReloading();
      Attempt("settings not applied: the old ones stay in force", [&] { Reload(reload()); });
      ops::Notify("READY=1");
    }
    Attempt("a step of the clock is not noted yet", [this] {
      if (clock_watch_.Look()) {
        next_names_ms_ = std::min(next_names_ms_, looked_at_names_ms_ + kNamesAfterStepMs);
      }
    });
    Watch();
  }
}

// Applies all changes or none: what can throw comes before the first change. Changes only the
// settings that are marked as reloadable (config/options.cc): other threads read the rest.
void App::Reload(const config::Options& options) {
  auto names = std::make_shared<const ops::Names>(ops::MachineNames(options));
  certificates_.Reload(options, *names, tls_);
  options_.hosts = options.hosts;
  options_.log_level = options.log_level;
  options_.tls_certificate = options.tls_certificate;
  options_.tls_key = options.tls_key;
  SetLogLevel();
  SetNames(std::move(names));
  NoteFiles();
  live_.neighbours().ReloadApps();
  LookAtZones();
  live_.neighbours().ReloadFiles();
  if (Instance* sandbox = sandbox_.instance()) sandbox->neighbours().ReloadFiles();
  log::Notice("settings and certificate read again");
}

void App::NoteFiles() { files_.Note(options_, net::FindSystemAuthorities().value_or("")); }

void App::SetNames(std::shared_ptr<const ops::Names> names) {
  const std::lock_guard lock(names_mutex_);
  names_ = std::move(names);
}

bool App::HostAllowed(std::string_view host) const {
  const std::lock_guard lock(names_mutex_);
  return names_->Allows(host);
}

// Once a second: the disk, the names, the threads. systemd restarts the process when WATCHDOG=1
// stops coming, which is so while the heartbeat of a thread is missing.
void App::Watch() {
  if (clock_.MonotonicMs() < next_watch_ms_) return;
  next_watch_ms_ = clock_.MonotonicMs() + kWatchEveryMs;
  space_.Look();
  if (!sandbox_control_ && !space_.is_read_only()) {
    Attempt("commands cannot reach the server yet", [this] { OpenControl(); });
  }
  SetLogLevel();
  if (clock_.MonotonicMs() >= next_names_ms_) {
    looked_at_names_ms_ = clock_.MonotonicMs();
    next_names_ms_ = looked_at_names_ms_ + kNamesEveryMs;
    LogClockTrouble();
    Attempt("names and certificate stay as they are", [this] { FollowNetwork(); });
    NoteAuthority();
  }
  const std::vector<std::string> stale = heartbeats_.Stale();
  if (stale.empty()) {
    ops::Notify("WATCHDOG=1");
    return;
  }
  for (const std::string& name : stale) log::Error("a thread hangs", {{"thread", name}});
}

void App::DoChores(events::Worker::Pass& pass) {
  const auto progress = [&] { pass.Beat(); };
  // Separately: a failure of one must not prevent the others.
  Attempt("chores put off", [&] { live_.environment().DoChores(progress); });
  if (Instance* sandbox = sandbox_.instance()) {
    Attempt("chores of the sandbox put off", [&] { sandbox->environment().DoChores(progress); });
  }
  LookAtZones();
  Attempt("copies from before an upgrade are kept on", [&] { DeleteUpgradeCopies(); });
  Attempt("the name of the machine is not looked at", [&] { LogNameTrouble(); });
}

// At least once a second, since more is granted meanwhile and the clock may be stepped.
int64_t App::WriteDownEnds() {
  constexpr int64_t kLookEveryMs = 1'000;
  int64_t due_ms = kLookEveryMs;
  for (Instance* instance : {&live_, sandbox_.instance()}) {
    if (instance == nullptr) continue;
    instance->ends().WriteDown();
    due_ms = std::min(due_ms, instance->ends().DueInMs().value_or(due_ms));
  }
  return due_ms;
}

void App::LookAtZones() {
  Attempt("time zones are not looked at", [&] {
    live_.environment().zones().Look();
    if (Instance* sandbox = sandbox_.instance()) sandbox->environment().zones().Look();
  });
}

// Deletes the copies that were made before an upgrade, once the upgraded database has been in use
// for kUpgradeCopyKeptMs of counted time. The times of the files are not used: a wrong clock may
// have set them.
void App::DeleteUpgradeCopies() {
  if (space_.is_read_only()) return;
  for (const auth::Mode mode : {auth::Mode::kLive, auth::Mode::kTest}) {
    Instance* instance = mode == auth::Mode::kLive ? &live_ : sandbox_.instance();
    if (!instance || !instance->environment().UpgradeIsOld()) continue;
    copies_.DeleteFromBeforeUpgrade(mode);
  }
}

void App::RetrySandbox(events::Worker::Pass& pass) {
  sandbox_.TryToOpen([&](const std::string&) { pass.Beat(); });
}

// A directory that lost its tls/ must not be given a new authority without a word.
void App::NoteAuthority() {
  if (space_.is_read_only()) return;
  if (!options_.tls_certificate.empty() || !certificates_.trusted()) return;
  Attempt("that devices trust tls/ca.crt is not noted",
          [this] { NoteTrustedAuthority(options_.data_directory); });
}

void App::LogClockTrouble() {
  std::string trouble = ops::ClockTrouble(clock_);
  if (trouble == clock_trouble_) return;
  if (trouble.empty()) {
    log::Notice("the clock is right again");
  } else {
    log::Warning("the clock is wrong", {{"trouble", trouble}});
  }
  clock_trouble_ = std::move(trouble);
}

// Who answers for NAME.local: on the thread of the chores, since it waits for avahi.
void App::LogNameTrouble() {
  std::string trouble = ops::LocalNameTrouble(ops::MachineAddresses());
  if (trouble == name_trouble_) return;
  if (trouble.empty()) {
    log::Notice("devices find the box by its name", {{"name", ops::LocalName()}});
  } else {
    log::Warning("the name of the box", {{"trouble", trouble}});
  }
  name_trouble_ = std::move(trouble);
}

void App::FollowAddresses() {
  if (space_.is_read_only()) return;
  Attempt("the addresses of the machine are not written down", [this] {
    ops::FollowAddresses(options_.data_directory, ops::MachineAddresses(), clock_.Now());
  });
}

// Reads the machine's names and addresses again, which change with its network, and renews the
// certificate if they or the clock require it.
void App::FollowNetwork() {
  const ops::Names former = *names_;
  SetNames(std::make_shared<const ops::Names>(ops::MachineNames(options_)));
  FollowAddresses();
  // On a read-only disk a new certificate is in memory alone: looking again would make another one.
  if (!space_.is_read_only() || *names_ != former) certificates_.Look(options_, *names_, tls_);
}

}  // namespace comanda::app
