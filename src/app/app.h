#pragma once

// The running server: the live instance, the sandbox, their addresses, the background threads.
// Members are declared in the order in which they start; destruction stops them in reverse.
//
// The threads of the process:
//   main               signals, clock, names of the machine, certificate, watchdog of systemd
//   writer             one per database (db/writer.h)
//   network, webhooks  outgoing calls (net/network.h); what they deliver (webhooks/deliverer.h)
//   chores, checks     periodic work; the background check of the databases (events/worker.h)
//   ends               writes down what has ended by time (base/time/ends.h)
//   the servers'       those that accept, and the workers that handle requests (wire/server.h)

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "app/clock_watch.h"
#include "app/instance.h"
#include "app/listeners.h"
#include "app/process.h"
#include "app/sandbox.h"
#include "app/storage.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "base/time/settled_clock.h"
#include "config/options.h"
#include "db/disk_space.h"
#include "db/lock.h"
#include "events/worker.h"
#include "net/network.h"
#include "ops/certificates.h"
#include "ops/files_in_use.h"
#include "wire/server.h"
#include "wire/tls.h"

namespace comanda::app {

// One thread makes it, runs it and destroys it; no other thread calls its public methods.
class App {
 public:
  // Opens and upgrades the databases, reads or makes the certificate, and listens. Blocks for the
  // time of an upgrade. Throws Refusal where a setting cannot be used, Fault where the system
  // refuses something: a file, an address, a thread.
  // `standby_note`: what this process has seen of the database while another one served it.
  App(const config::Options& options, db::DirectoryLock lock, Listeners listeners,
      const std::optional<db::OwnerNote>& standby_note);
  // Stops accepting, answers what was accepted, and closes the databases. Blocks for about 10 s at
  // most: clients that do not read their answers are then disconnected.
  ~App();

  // Blocks until SIGTERM or SIGINT. SIGHUP calls `reload` and applies the settings and certificate
  // that it returns. The caller must have blocked these signals in every thread before.
  void RunUntilSignal(const std::function<config::Options()>& reload);

  // https://ADDR:PORT for each address that the server listens on; http:// for those of setup.
  std::vector<std::string> Addresses() const { return AddressesOf(Role::kRestaurant); }
  std::vector<std::string> SandboxAddresses() const { return AddressesOf(Role::kSandbox); }
  std::vector<std::string> SetupAddresses() const { return AddressesOf(Role::kSetup); }
  // The SHA-256 of the presented certificate, in the form that browsers show.
  std::string CertificateFingerprint() const;
  bool HasCompany();  // in the live environment

 private:
  void AddReadiness(std::vector<http::Readiness>& checks);  // of the live instance; any thread
  using Taken = std::array<std::vector<Listener>, kRoles>;
  Taken TakeAll(Listeners& listeners);
  void OpenServers(const Taken& taken);
  void Reload(const config::Options& options);
  void NoteFiles();
  void SetNames(std::shared_ptr<const ops::Names> names);
  void FollowNetwork();
  void LogNameTrouble();
  void FollowAddresses();
  std::unique_ptr<wire::Server> Listen(Role role, const std::vector<Listener>& taken);
  // What the servers call for each request. Any thread.
  bool RefuseWithoutDatabase(wire::Exchange& exchange);  // true where it answered
  void HandleWithDatabase(wire::Exchange& exchange, const wire::Handler& handle);
  wire::Handler LiveHandler();
  wire::Handler SandboxHandler();
  std::unique_ptr<Instance> OpenSandbox(const Upgrading& upgrading);
  void RetrySandbox(events::Worker::Pass& pass);  // on the thread of the chores
  std::vector<std::string> AddressesOf(Role role) const;
  std::string HttpsAddressFor(std::string_view host) const;  // app/setup_port.h; any thread
  bool HostAllowed(std::string_view host) const;  // the name in a Host header; any thread
  void StopServers();
  void OpenControl();
  void Watch();
  void NoteAuthority();
  void LogClockTrouble();
  // On the thread of the ends. Returns the ms until the next call.
  int64_t WriteDownEnds();
  // On the thread of the chores:
  void DoChores(events::Worker::Pass& pass);
  void LookAtZones();  // also on the main thread
  void DeleteUpgradeCopies();
  void SetLogLevel();

  SettledClock clock_;
  config::Options options_;
  db::DirectoryLock lock_;  // one process owns the data directory
  metrics::Registry metrics_;
  const Copies copies_;
  Heartbeats heartbeats_;
  db::DiskSpace space_;
  http::AnswerBudget answer_budget_;
  net::Network network_;  // all outgoing calls; before the instances, whose webhooks use it
  const Process process_;
  ops::FilesInUse files_;
  Instance live_;  // each instance has a writer thread
  Sandbox sandbox_;
  ClockWatch clock_watch_;
  mutable std::mutex names_mutex_;
  std::shared_ptr<const ops::Names>
      names_;  // guarded by names_mutex_; replaced when addresses change
  ops::Certificates certificates_;
  wire::Tls tls_;
  // Null while the disk is read-only and has been since the start: no socket can be made there.
  std::unique_ptr<wire::Server> control_;          // DIR/control.sock
  std::unique_ptr<wire::Server> sandbox_control_;  // DIR/control-test.sock
  // ADDR:PORT of each listener, by Role. Constant while the servers run.
  std::array<std::vector<std::string>, kRoles> listened_;
  std::unique_ptr<wire::Server> https_;          // Role::kRestaurant
  std::unique_ptr<wire::Server> sandbox_https_;  // Role::kSandbox; null: none
  std::unique_ptr<wire::Server> setup_;          // Role::kSetup; null: none
  int64_t next_watch_ms_ = 0;
  int64_t next_names_ms_ = 0;
  int64_t looked_at_names_ms_ = 0;
  std::string name_trouble_;              // the thread of the chores alone
  std::string clock_trouble_;             // as last logged; empty: none
  std::optional<events::Worker> checks_;  // the background check of both (integrity/checker.h)
  std::optional<events::Worker> ends_;
  std::optional<events::Worker> chores_;  // a thread of its own: chores may take minutes
};

}  // namespace comanda::app
