#pragma once

// The states of the company's store in the apps, as they are now: probes (probe.h) side by side,
// one at a time for each company and app, their outcome kept while it is fresh.
//
// Each probe has a thread of its own for its few seconds; its calls run on the network's.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "base/metrics.h"
#include "company/company.h"
#include "config/options.h"
#include "crypto/authorities.h"
#include "delivery/status/probe.h"
#include "delivery/catalogue.h"
#include "net/network.h"
#include "net/outgoing_authorities.h"

namespace comanda::delivery {

// All that is referred to outlives the probes.
struct ProbesSettings {
  const config::Options& options;
  const Clock& clock;
  metrics::Registry& metrics;
  net::Network* network;  // null: no app is asked (the sandbox, the command line without a server)
};

class Probes {
 public:
  explicit Probes(ProbesSettings settings);
  // Ends what is under way.
  ~Probes();

  // A row for each provider, in their order. Blocks for 5 s at most; an app that has not answered
  // by then is UNKNOWN, timeout. Throws nothing for what an app does. Any thread.
  std::vector<StatusRow> Find(const company::Company& company,
                              const Catalogue::Providers& providers);

  // False: this process asks no app.
  bool CanAsk() const { return settings_.network != nullptr; }

  // Asks now, whatever is kept; CanAsk() must be true. Waits where a probe is under way. For
  // `comanda provider try`.
  Found Try(const company::Company& company, std::shared_ptr<const Provider> provider);

  // What was found last, without a probe; nothing where there was none.
  std::optional<StatusRow> Last(const std::string& company_uuid, const std::string& app);

  // The app's credentials or its file have changed: what is kept of it is not fresh, its tokens are
  // dropped.
  void Forget(std::string_view app);

  // The authorities are read again before the next call.
  void ForgetAuthorities() { authorities_.Forget(); }

  // Those that apps may have (net/outgoing_authorities.h), read once until
  // ForgetAuthorities().
  std::shared_ptr<const crypto::Authorities> Authorities() { return authorities_.Get(); }

  // The apps that are configured, for /readyz: "ifood OPEN, rappi UNKNOWN (timeout)"; empty: none.
  std::string Describe();

 private:
  using Key = std::pair<std::string, std::string>;  // UUID of the company, name of the app
  struct Entry {
    std::optional<Found> found;  // of the last probe
    int64_t fresh_until_ms = 0;  // monotonic
    int64_t not_before_ms = 0;   // monotonic; the app is not asked before
    int failures = 0;            // in a row
    bool is_running = false;
    bool is_configured = false;
    int64_t generation = 0;  // of the credentials; Forget() raises it
    int64_t asked_with = 0;  // the generation of the token
    Token token;             // of the probe under way while it runs
    std::jthread thread;
    // 1 while the last probe found it so; -1: there was none.
    std::atomic<int> is_open{-1};
    std::optional<metrics::Gauge> open_gauge, known_gauge;
  };

  Entry& EntryOf(const Key& key);
  void Start(Entry& entry, const company::Company& company,
             std::shared_ptr<const Provider> provider);
  void LookUp(Entry& entry, const company::Company& company,
              const std::shared_ptr<const Provider>& provider, const std::stop_token& stop);
  void Keep(Entry& entry, const Key& key, const Provider& provider, Found found);
  void ShowInMetrics(Entry& entry, const Key& key);

  const ProbesSettings settings_;
  net::OutgoingAuthorities authorities_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::map<Key, std::unique_ptr<Entry>> entries_;  // guarded by mutex_; none is removed
};

}  // namespace comanda::delivery
