#pragma once

// One instance of the API: an environment, what answers requests with it, and what talks to others
// for it. A box has two: the live one, and the sandbox.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/environment.h"
#include "app/neighbours.h"
#include "app/process.h"
#include "base/time/ends.h"
#include "http/dispatch.h"
#include "http/long_polls.h"
#include "http/site.h"
#include "kitchen/watch.h"

namespace comanda::app {

// The maximum number of connections of the instance's HTTPS server.
int WorkersOf(auth::Mode mode, const config::Options& options);

struct InstanceSettings {
  auth::Mode mode = auth::Mode::kLive;
  std::optional<db::OwnerNote> standby_note = {};  // db::Settings::standby_note
  Upgrading upgrading;
  // Appends checks to those of /readyz. Called by any thread.
  std::function<void(std::vector<http::Readiness>& checks)> more_checks =
      [](std::vector<http::Readiness>&) {};
  // As http::Site::authority_pem.
  std::function<std::string()> authority_pem = [] { return std::string(); };
  // As http::Site::listened.
  std::function<std::vector<std::string>()> listened = [] { return std::vector<std::string>(); };
  // As for Environment.
  bool owns_directory = true;
};

// Methods may be called by any thread unless they say otherwise.
class Instance {
 public:
  // Opens the environment, which see; throws as that. Without a network in `process` nothing is
  // delivered to webhooks.
  Instance(const Process& process, const InstanceSettings& settings);

  Environment& environment() { return environment_; }
  Neighbours& neighbours() { return neighbours_; }
  http::Dispatcher& dispatcher() { return dispatcher_; }
  // What ends by time in this database.
  Ends& ends() { return ends_; }
  // Answers all waiting long polls; later ones do not wait. Called when the server stops.
  void StopWaiting() { long_polls_.Stop(); }

 private:
  http::Site SiteFor(const Process& process, const InstanceSettings& settings);
  std::vector<http::Readiness> CheckReadiness();
  bool Resume();

  const Process process_;
  const decltype(InstanceSettings::more_checks) more_checks_;
  Environment environment_;
  http::LongPolls long_polls_;
  events::Feed::Reader long_polls_reader_;
  http::AnswerCache answers_;
  kitchen::Watch kitchen_;
  http::Site site_;
  http::Dispatcher dispatcher_;
  Neighbours neighbours_;  // after what its threads use
  Ends ends_;
};

}  // namespace comanda::app
