#include "net/network.h"

#include <ares.h>
#include <curl/curl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "base/log.h"
#include "base/problem.h"
#include "crypto/hash.h"
#include "net/transfer.h"
#include "net/url.h"

namespace comanda::net {
namespace {

constexpr int64_t kHeartbeatMaxMs = 30'000;
constexpr int kIdlePollMs = 5'000;
// Handles that are kept for the next transfers: making one costs as much as sending a message.
constexpr size_t kSpareHandlesMax = 4;
constexpr int kWaitingPollMs =
    // While calls wait for a slot, their deadlines must be checked.
    500;

static_assert([] {
  for (size_t i = 0; i < kPurposes.size(); ++i) {
    if (static_cast<size_t>(kPurposes[i].purpose) != i) return false;
  }
  return true;
}());

// The metrics of one purpose.
struct Metrics {
  Metrics(metrics::Registry& registry, std::string_view purpose)
      : started(registry, "comanda_net_transfers_started_total", "Outgoing calls begun.",
                Labels(purpose)),
        duration(registry, "comanda_net_transfer_seconds", "Duration of outgoing calls.",
                 Labels(purpose)) {
    for (size_t i = 0; i < kOutcomes; ++i) {
      const std::string labels =
          Labels(purpose) + ",outcome=\"" + std::string(Name(static_cast<Outcome>(i))) + "\"";
      outcomes.emplace_back(registry, "comanda_net_calls_total", "Outgoing calls by their outcome.",
                            labels);
    }
  }

  static std::string Labels(std::string_view purpose) {
    return "purpose=\"" + std::string(purpose) + "\"";
  }

  metrics::Counter started;
  metrics::Histogram duration;
  // Indexed by Outcome.
  std::deque<metrics::Counter> outcomes;
};

struct MultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
using Multi = std::unique_ptr<CURLM, MultiDeleter>;

Multi MakeMulti() {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  crypto::Initialise();
  Multi multi(initialised == CURLE_OK ? curl_multi_init() : nullptr);
  if (multi == nullptr) throw Fault(Fault::Kind::kUnavailable, "libcurl could not be initialised");
  curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, kIdleConnectionsMax);
  return multi;
}

Answer Unanswered(Outcome outcome, std::string error) {
  return {.outcome = outcome, .error = std::move(error)};
}

}  // namespace

class Network::Loop {
 public:
  Loop(Heartbeats& heartbeats, metrics::Registry& registry, LocalNames names)
      : multi_(MakeMulti()),
        names_(std::move(names)),
        heartbeat_(heartbeats, "network", kHeartbeatMaxMs) {
    for (const PurposeRow& row : kPurposes) metrics_.emplace_back(registry, row.name);
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }

  std::optional<Ticket> Start(Call call, OnDone on_done) {
    const std::lock_guard lock(mutex_);
    std::deque<Waiting>& waiting = waiting_[static_cast<size_t>(call.purpose)];
    if (stopped_ || waiting.size() == kWaitingMax) {
      CountOutcome(call.purpose, Outcome::kNotStarted);
      return std::nullopt;
    }
    const int64_t give_up_ms = SystemClock().MonotonicMs() + kWaitingMsMax;
    waiting.push_back({++last_ticket_, std::move(call), std::move(on_done), give_up_ms});
    Wake();
    return last_ticket_;
  }

  void Cancel(Ticket ticket) {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(ticket);
    Wake();
  }

  const Internet& internet() const { return internet_; }

 private:
  struct Waiting {
    Ticket ticket;
    Call call;
    OnDone on_done;
    int64_t give_up_ms;
  };
  struct Active {
    Ticket ticket;
    OnDone on_done;
    std::unique_ptr<Transfer> transfer;
    // While it lasts, libcurl does not have the transfer yet.
    std::unique_ptr<AvahiQuery> query;
  };

  void Wake() { curl_multi_wakeup(multi_.get()); }

  void Run(const std::stop_token& stop) {
    ::pthread_setname_np(::pthread_self(), "network");  // for top -H
    const std::stop_callback wake(stop, [this] { Wake(); });
    while (!stop.stop_requested()) {
      heartbeat_.Beat();
      int running = 0;
      curl_multi_perform(multi_.get(), &running);
      EndFinished();
      EndCancelled();
      ContinueQueries();
      const bool some_wait = StartWaiting();
      Poll(some_wait ? kWaitingPollMs : kIdlePollMs);
    }
    EndAll();
  }

  // Until a socket has input, Wake() is called, or that time is over.
  void Poll(int64_t wait_ms) {
    std::vector<curl_waitfd> sockets;
    for (const auto& [handle, active] : active_) {
      if (active.query == nullptr) continue;
      const bool has_ended = active.query->socket() < 0;
      wait_ms = std::min(wait_ms, has_ended ? 0 : active.query->LeftMs());
      if (!has_ended) sockets.push_back({active.query->socket(), CURL_WAIT_POLLIN, 0});
    }
    curl_multi_poll(multi_.get(), sockets.data(), static_cast<unsigned>(sockets.size()),
                    static_cast<int>(wait_ms), nullptr);
  }

  // Starting waiting calls.

  // Starts waiting calls as far as slots are free. True if some still wait.
  bool StartWaiting() {
    std::vector<Waiting> started;
    std::vector<Waiting> given_up;
    bool some_wait = false;
    {
      const std::lock_guard lock(mutex_);
      const int64_t now_ms = SystemClock().MonotonicMs();
      for (const PurposeRow& row : kPurposes) {
        const auto purpose = static_cast<size_t>(row.purpose);
        std::deque<Waiting>& waiting = waiting_[purpose];
        while (!waiting.empty()) {
          const bool is_late = waiting.front().give_up_ms <= now_ms;
          if (!is_late && slots_used_[purpose] == row.slots) break;
          if (!is_late) ++slots_used_[purpose];
          (is_late ? given_up : started).push_back(std::move(waiting.front()));
          waiting.pop_front();
        }
        some_wait = some_wait || !waiting.empty();
      }
    }
    for (Waiting& call : given_up) {
      End(call, Unanswered(Outcome::kNotStarted, "no slot for outgoing calls became free"));
    }
    for (Waiting& call : started) Begin(call);
    return some_wait;
  }

  // The caller has reserved the slot.
  void Begin(Waiting& waiting) {
    const Purpose purpose = waiting.call.purpose;
    metrics_[static_cast<size_t>(purpose)].started.Add();
    try {
      Easy spare;
      if (!spare_.empty()) {
        spare = std::move(spare_.back());
        spare_.pop_back();
      }
      auto transfer = std::make_unique<Transfer>(std::move(waiting.call), std::move(spare));
      auto query = QueryFor(transfer->call());
      CURL* const handle = transfer->handle();
      if (query == nullptr) Add(handle);
      active_[handle] = {waiting.ticket, waiting.on_done, std::move(transfer), std::move(query)};
    } catch (const std::exception& error) {
      --slots_used_[static_cast<size_t>(purpose)];
      End(waiting, Unanswered(Outcome::kInvalidCall, error.what()));
    }
  }

  // The question for the address of its host, where avahi has to be asked.
  std::unique_ptr<AvahiQuery> QueryFor(const Call& call) const {
    if (!call.unix_socket.empty()) return nullptr;
    const std::string host = ParseUrl(call.url).url.host;
    if (!IsMulticastName(host) || IsInHosts(host, names_.hosts_file)) return nullptr;
    return std::make_unique<AvahiQuery>(names_, host,
                                        std::min(call.connect_timeout_ms, call.timeout_ms));
  }

  void Add(CURL* handle) {
    const CURLMcode code = curl_multi_add_handle(multi_.get(), handle);
    if (code != CURLM_OK) throw Fault(Fault::Kind::kUnavailable, curl_multi_strerror(code));
  }

  void ContinueQueries() {
    std::vector<CURL*> answered;
    for (const auto& [handle, active] : active_) {
      if (active.query != nullptr && active.query->Continue()) answered.push_back(handle);
    }
    for (CURL* const handle : answered) {
      const auto it = active_.find(handle);
      const std::unique_ptr<AvahiQuery> query = std::move(it->second.query);
      if (query->address().empty()) {
        Abandon(it, Outcome::kNameNotFound, query->error());
        continue;
      }
      try {
        it->second.transfer->DialAt(query->address());
        Add(handle);
      } catch (const std::exception& error) {
        Abandon(it, Outcome::kInvalidCall, error.what());
      }
    }
  }

  // Ending calls.

  void EndFinished() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      // Read now: removing the handle frees the message.
      const CURLcode code = message->data.result;
      const auto it = active_.find(message->easy_handle);
      End(it, [&](Transfer& transfer) { return transfer.Finish(code); });
    }
  }

  void EndCancelled() {
    std::vector<Ticket> tickets;
    std::vector<Waiting> waited;
    {
      const std::lock_guard lock(mutex_);
      tickets.swap(cancelled_);
      for (std::deque<Waiting>& waiting : waiting_) {
        for (const Ticket ticket : tickets) {
          const auto it = std::ranges::find(waiting, ticket, &Waiting::ticket);
          if (it == waiting.end()) continue;
          waited.push_back(std::move(*it));
          waiting.erase(it);
        }
      }
    }
    for (Waiting& call : waited) End(call, Unanswered(Outcome::kCancelled, "cancelled"));
    for (const Ticket ticket : tickets) {
      const auto it = std::ranges::find_if(
          active_, [&](const auto& entry) { return entry.second.ticket == ticket; });
      if (it != active_.end()) Cancel(it);
    }
  }

  void EndAll() {
    std::array<std::deque<Waiting>, kPurposes.size()> waiting;
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      waiting.swap(waiting_);
    }
    while (!active_.empty()) Cancel(active_.begin());
    for (std::deque<Waiting>& calls : waiting) {
      for (Waiting& call : calls) End(call, Unanswered(Outcome::kCancelled, "cancelled"));
    }
  }

  using ActiveIt = std::unordered_map<CURL*, Active>::iterator;

  void Cancel(ActiveIt it) { Abandon(it, Outcome::kCancelled, "cancelled"); }

  void Abandon(ActiveIt it, Outcome outcome, const std::string& error) {
    End(it, [&](Transfer& transfer) { return transfer.Abandon(outcome, error); });
  }

  template <typename Conclude>
  void End(ActiveIt it, Conclude&& conclude) {
    Active active = std::move(it->second);
    active_.erase(it);
    Transfer& transfer = *active.transfer;
    const Purpose purpose = transfer.call().purpose;
    Answer answer = conclude(transfer);
    if (transfer.evidence() != Evidence::kNone) {
      internet_.Note(transfer.evidence(), ParseUrl(transfer.call().url).url.host,
                     SystemClock().MonotonicMs());
    }
    // Without effect on one that libcurl does not have.
    curl_multi_remove_handle(multi_.get(), transfer.handle());
    if (spare_.size() < kSpareHandlesMax) spare_.push_back(transfer.TakeHandle());
    --slots_used_[static_cast<size_t>(purpose)];
    metrics_[static_cast<size_t>(purpose)].duration.ObserveUs(answer.duration_ms * 1000);
    Tell(purpose, active.on_done, std::move(answer));
  }

  void End(Waiting& waiting, Answer answer) {
    Tell(waiting.call.purpose, waiting.on_done, std::move(answer));
  }

  void Tell(Purpose purpose, const OnDone& on_done, Answer answer) {
    CountOutcome(purpose, answer.outcome);
    try {
      on_done(std::move(answer));
    } catch (const std::exception& error) {
      log::Error("the answer of an outgoing call was not handled", {{"why", error.what()}});
    }
  }

  void CountOutcome(Purpose purpose, Outcome outcome) {
    metrics_[static_cast<size_t>(purpose)].outcomes[static_cast<size_t>(outcome)].Add();
  }

  const Multi multi_;
  const LocalNames names_;
  Heartbeat heartbeat_;
  Internet internet_;
  // Indexed by Purpose.
  std::deque<Metrics> metrics_;

  // Used by the network thread only.
  std::unordered_map<CURL*, Active> active_;
  std::array<size_t, kPurposes.size()> slots_used_{};
  std::vector<Easy> spare_;

  std::mutex mutex_;
  std::array<std::deque<Waiting>, kPurposes.size()> waiting_;  // guarded by mutex_
  std::vector<Ticket> cancelled_;                              // guarded by mutex_
  Ticket last_ticket_ = 0;                                     // guarded by mutex_
  bool stopped_ = false;                                       // guarded by mutex_

  // Last, so that it is joined before the members it uses are destroyed.
  std::jthread thread_;
};

Network::Network(Heartbeats& heartbeats, metrics::Registry& registry, LocalNames names)
    : loop_(std::make_unique<Loop>(heartbeats, registry, std::move(names))) {}

Network::~Network() = default;

std::optional<Network::Ticket> Network::Start(Call call, OnDone on_done) {
  return loop_->Start(std::move(call), std::move(on_done));
}

Internet::Now Network::internet() const {
  return loop_->internet().Get(SystemClock().MonotonicMs());
}

void Network::Cancel(Ticket ticket) { loop_->Cancel(ticket); }

Answer Network::Send(Call call, const std::stop_token& stop) {
  // Shared, because the network thread may still be inside set_value() when this thread continues.
  const auto promise = std::make_shared<std::promise<Answer>>();
  std::future<Answer> answer = promise->get_future();
  const std::optional<Ticket> ticket =
      Start(std::move(call), [promise](Answer given) { promise->set_value(std::move(given)); });
  if (!ticket) return Unanswered(Outcome::kNotStarted, "too many outgoing calls wait");
  const std::stop_callback cancel(stop, [&] { Cancel(*ticket); });
  return answer.get();
}

std::optional<std::string> FindSystemAuthorities() {
  constexpr std::array kPaths = {
      "/etc/ssl/certs/ca-certificates.crt",  // Debian, Alpine, Arch
      "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL
      "/etc/ssl/ca-bundle.pem",              // openSUSE
      "/etc/ssl/cert.pem",
  };
  for (const char* path : kPaths) {
    if (::access(path, R_OK) == 0) return path;
  }
  return std::nullopt;
}

std::string LibraryVersion() { return curl_version_info(CURLVERSION_NOW)->version; }

std::string ResolverVersion() { return ares_version(nullptr); }

}  // namespace comanda::net
