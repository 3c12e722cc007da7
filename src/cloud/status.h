#pragma once

// What people see of the sync: `comanda cloud status`, /readyz, metrics. LAN, internet and cloud
// are told apart, because each has another person who can mend it. Pure, but for FindStatus().

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "cloud/orders/journal.h"
#include "cloud/link/link.h"
#include "cloud/readings.h"
#include "db/session.h"
#include "net/internet.h"
#include "outbox/late.h"

namespace comanda::cloud {

enum class State : uint8_t {
  kNotLinked,
  kInStep,   // nothing waits, is late, parked or unreadable, and the cloud has answered
  kBehind,   // one of these, a reading failed, or the cloud has not answered since the start
  kOffline,  // the cloud gives no usable answer
  kStopped,  // a person has to act: no key, key or scope refused, held (machine/hold.h)
  kPaused,   // `comanda cloud pause`
};

// What the worker knows, kept in memory.
struct Progressing {
  State state = State::kNotLinked;
  // Of kOffline and kStopped: "certificate: …"; of kBehind: that the cloud asks to wait.
  std::string reason;
  std::optional<UtcMs> since;    // the beginning of kOffline, kStopped or kPaused
  std::optional<UtcMs> heard;    // the last usable answer of the cloud
  std::optional<UtcMs> next_at;  // nothing is asked before, after a failure or a Retry-After
  net::Internet::State internet = net::Internet::State::kUnknown;
  int64_t requests = 0;          // since the start
  int64_t bytes = 0;             // of bodies in both directions, since the start
  int64_t steps_per_minute = 0;  // the pace
  // Since the cloud is reached: the orders were read, or its events are followed.
  bool has_read_orders = false;
  bool scans = false;  // orders from before the link are still being planned
  // As the journal was at the end of the last pass (Counts, cloud/orders/journal.h).
  int64_t steps_waiting = 0, orders_parked = 0, differences = 0;
  std::optional<UtcMs> oldest;
  std::vector<outbox::Late> late;
};

struct Status {
  Progressing progress;
  std::optional<Linked> linked;
  Counts counts;
  int64_t other_channels = 0;  // orders that came through other channels, which are not sent
  std::map<std::string, int64_t> unpaired;
  std::vector<Unread> unread;
  bool has_uncompared = false;  // changes of which it is not known yet what is to be sent
  int64_t steps_late = 0;       // of counts.steps_waiting, those of late orders
  std::map<std::string, std::string> public_ids;  // of late orders, by their UUIDs
};

// What a person may do next: a command, without --data, and what it is for.
struct Advice {
  std::string command;
  std::string purpose;

  bool operator==(const Advice&) const = default;
};

// Adds what the database knows.
Status FindStatus(db::Session& session, Progressing progress, UtcMs now);

// The most urgent first; empty where nothing is to be done.
std::vector<Advice> AdviceFor(const Status& status);

// "in step, 3 s ago", "behind: 412 steps, oldest 2 h, done in about 9 min", "offline since …", with
// the counts of parked orders and differences.
std::string Describe(const Status& status, UtcMs now);
std::string ToJson(const Status& status, UtcMs now);

// The state and its reason as one code for pages, of those that the schema SyncCheck of
// web/openapi.json lists.
std::string_view CodeOf(const Progressing& progress);

}  // namespace comanda::cloud
