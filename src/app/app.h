#pragma once

// The whole server. Members stand in start order, so that destruction is the shutdown order.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "app/environment.h"
#include "app/clock_watch.h"
#include "app/sandbox.h"
#include "base/settled_clock.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "config/options.h"
#include "db/disk_space.h"
#include "db/lock.h"
#include "events/worker.h"
#include "wire/server.h"
#include "wire/tls.h"
#include "ops/certificates.h"

namespace comanda::app {

class App {
 public:
  // Opens the databases, makes or reads the certificate, listens. Refusal where the settings cannot
  // be used, Fault where the machine does not let us.
  App(const config::Options& options, db::DirectoryLock lock);
  ~App();

  // Until SIGTERM or SIGINT; SIGHUP reads settings and certificate again. Signals must be blocked
  // in all threads before the App is made.
  void RunUntilSignal(const std::function<config::Options()>& reload);

  // Where it can be reached: https://ADDR:PORT for each address that is listened on; the sandbox's
  // too.
  std::vector<std::string> Addresses() const;
  std::vector<std::string> SandboxAddresses() const;
  // SHA-256 of the certificate that is served, as browsers show it.
  std::string CertificateFingerprint() const;
  size_t company_count();  // of the live environment

 private:
  void Reload(const config::Options& options);
  void SetNames(std::shared_ptr<const ops::Names> names);
  void FollowNetwork();
  std::unique_ptr<wire::Server> Listen(const std::string& address, wire::Handler handler,
                                       auth::Mode mode);
  wire::Handler Live();  // answers for it
  wire::Handler Test();
  std::unique_ptr<Environment> OpenSandbox(const Upgrading& upgrading);
  void RetrySandbox(events::Worker::Pass& pass);
  std::vector<std::string> AddressesOf(const std::string& listen, int port) const;
  bool HostAllowed(std::string_view host) const;
  void StopServers();
  void Watch();
  void SayClock();
  void DoChores(events::Worker::Pass& pass);
  int64_t ChoresDueInMs() const;
  void DeleteUpgradeCopies();
  void SetLogLevel();

  SettledClock clock_;
  config::Options options_;
  db::DirectoryLock lock_;  // one process owns the data directory
  metrics::Registry metrics_;
  Heartbeats heartbeats_;
  db::DiskSpace space_;
  http::AnswerBudget answer_budget_;
  Environment live_;  // a writer thread each, and one that looks for damage
  Sandbox test_;
  ClockWatch clock_watch_;
  mutable std::mutex names_mutex_;
  std::shared_ptr<const ops::Names>
      names_;  // guarded by names_mutex_; replaced when addresses change
  ops::Certificates certificates_;
  wire::Tls tls_;
  std::unique_ptr<wire::Server> control_;       // DIR/control.sock, a few threads
  std::unique_ptr<wire::Server> control_test_;  // DIR/control-test.sock
  std::unique_ptr<wire::Server> https_;         // the workers
  std::unique_ptr<wire::Server> sandbox_;       // where the settings name an address
  int64_t next_watch_ms_ = 0;
  int64_t next_names_ms_ = 0;
  int64_t looked_at_names_ms_ = 0;
  std::string clock_trouble_;             // as it was last logged
  std::optional<events::Worker> checks_;  // whether what is stored is what was written
  std::optional<events::Worker> chores_;  // so that the pings do not wait for what takes long
};

}  // namespace comanda::app
