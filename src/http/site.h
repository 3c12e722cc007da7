#pragma once

// What the requests of one environment (the live one, or the sandbox) are answered with. Owned by
// app/; all members are thread-safe and live as long as the dispatcher.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/gate.h"
#include "auth/key.h"
#include "base/time/clock.h"
#include "base/metrics.h"
#include "config/options.h"
#include "db/database.h"
#include "db/disk_space.h"
#include "http/answer_budget.h"
#include "http/answer_cache.h"
#include "http/body_budget.h"
#include "http/key_display.h"
#include "http/long_polls.h"
#include "http/lookers.h"
#include "http/room_object.h"

namespace comanda::http {

// One line of /readyz.
struct Readiness {
  std::string_view name;  // database, disk, clock, sync
  bool ok = true;
  std::string state;  // in words
  // The same for pages, which speak other languages. Empty: the check has none.
  std::string_view code = {};
  std::optional<UtcMs> since = {};
  std::vector<std::pair<std::string_view, int64_t>> counts = {};
};

// A company that a request of the command line may mean.
struct CompanyName {
  db::CompanyId company;
  std::string uuid;
  std::string name;
};
// The companies of the database: the one with that UUID, or the oldest ones, at most `limit`.
using FindCompanies = std::function<std::vector<CompanyName>(
    db::Session&, const std::optional<std::string>& uuid, size_t limit)>;

// The displays of the kitchen that were seen lately.
using DisplaysOf = std::function<std::vector<KeyDisplay>(db::CompanyId)>;

// Each environment has one. What both share (options, clock, disk space, the memory for answers) is
// referred to by both.
struct Site {
  auth::Mode mode = auth::Mode::kLive;
  const config::Options& options;
  const Clock& clock;
  db::Database& database;
  const db::DiskSpace& space;
  auth::Gate& gate;
  metrics::Registry& metrics;
  // What /readyz answers. Blocks for a read of the database.
  std::function<std::vector<Readiness>()> readiness;
  LongPolls& long_polls;
  AnswerCache& answers;         // of lists, by everything that they depend on
  AnswerBudget& answer_budget;  // of the process
  FindCompanies find_companies;
  // The body of an event, which idempotency records refer to (http::Response::event_seq).
  std::function<std::optional<std::string>(db::Session&, db::CompanyId, int64_t)> read_event_body;
  // The number of the last mark (events/marks.h): the age of an idempotency record made now.
  std::function<int64_t()> current_mark = [] { return int64_t{0}; };
  // Of the room webhooks/, whose handlers alone use them: its Deliverer, null where nothing is
  // sent, and its Graces, never null while requests are served.
  RoomObject* deliverer = nullptr;
  RoomObject* graces = nullptr;
  // Of the room cloud/, whose handlers alone use it: its Syncer; null in the sandbox.
  RoomObject* syncer = nullptr;
  // Of the room delivery/, whose handlers alone use it: its Delivery; never null while requests are
  // served.
  RoomObject* delivery = nullptr;
  // Of the room kitchen/, whose handlers alone use it: its Watch; never null while requests are
  // served.
  RoomObject* kitchen = nullptr;
  DisplaysOf displays_of = [](db::CompanyId) { return std::vector<KeyDisplay>(); };
  // Ends the hold of outgoing messages (machine/hold.h); false where there was none. Writes.
  std::function<bool()> resume;
  // The authority that devices install, PEM; empty where the owner's certificate is served.
  std::function<std::string()> authority_pem = [] { return std::string(); };
  // ADDR:PORT of each socket on which this environment is served to devices; empty where no server
  // runs, as for a command, and for a sandbox without an address.
  std::function<std::vector<std::string>()> listened = [] { return std::vector<std::string>(); };
  BodyBudget body_budget{};  // of the requests of this environment
  Lookers lookers{};
};

}  // namespace comanda::http
