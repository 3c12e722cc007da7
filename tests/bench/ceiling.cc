// comanda_bench: what the server is measured against. It is built from the same rooms and is no
// part of the product.
//
//   comanda_bench serve --data DIR --listen ADDR:PORT
//       The whole API of the live database, and beside it /ceiling/{bytes}, so many bytes from
//       memory, and /ceiling/empty, a 204, both without a key.
//   comanda_bench writer --data DIR [--seconds S] [--threads N]
//       Places orders as POST /v1/orders does, without HTTP: N threads give their jobs to the
//       writer. Prints orders, seconds and cpu_seconds as JSON.

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/embedded.h"
#include "app/routes.h"
#include "auth/gate.h"
#include "base/time/clock.h"
#include "base/heartbeat.h"
#include "base/id.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/problem.h"
#include "base/random.h"
#include "company/companies.h"
#include "config/options.h"
#include "crypto/hash.h"
#include "db/database.h"
#include "db/disk_space.h"
#include "db/lock.h"
#include "events/log.h"
#include "http/dispatch.h"
#include "wire/server.h"
#include "wire/tls.h"
#include "keys/keys.h"
#include "ops/certificates.h"
#include "orders/orders.h"

namespace comanda::bench {
namespace {

using Flags = std::map<std::string, std::string>;

// --name value, and nothing else.
Flags ReadFlags(int count, char** words) {
  Flags flags;
  for (int i = 2; i + 1 < count; i += 2) {
    const std::string_view name = words[i];
    if (!name.starts_with("--")) throw Refusal(Problem::kInvalidParameter, "options only");
    flags[std::string(name.substr(2))] = words[i + 1];
  }
  return flags;
}

// Takes the number out of the flags.
int64_t TakeNumber(Flags& flags, const std::string& name, int64_t fallback) {
  const auto node = flags.extract(name);
  if (node.empty()) return fallback;
  const std::string& text = node.mapped();
  int64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ptr != text.data() + text.size() || number < 1) {
    throw Refusal(Problem::kInvalidParameter, "--" + name + " needs a number above 0");
  }
  return number;
}

db::Settings DatabaseSettings(const config::Options& options) {
  return {.path = options.data_directory + "/live.db", .migrations = app::Migrations()};
}

db::DirectoryLock Own(const config::Options& options) {
  auto lock = db::DirectoryLock::TryAcquire(options.data_directory);
  if (!lock) throw Fault(Fault::Kind::kUnavailable, options.data_directory + " is in use");
  return *std::move(lock);
}

// The ceilings over HTTP

// The tag is given, as the API gives its own: the dispatcher makes none from the bytes then.
http::Response SendBytes(http::Context& context) {
  const std::string& wanted = context.parameter("bytes");
  size_t bytes = 0;
  std::from_chars(wanted.data(), wanted.data() + wanted.size(), bytes);
  static const std::string memory(http::kBodyMax, 'x');
  http::Response response;
  response.body.assign(memory, 0, bytes);
  response.etag = "\"1.1\"";
  return response;
}

http::Response SendNothing(http::Context&) {
  http::Response response;
  response.status = 204;
  response.etag = "\"1.1\"";
  return response;
}

constexpr http::Route kCeilings[] = {
    http::Open(http::Method::kGet, "/ceiling/empty", SendNothing),
    http::Open(http::Method::kGet, "/ceiling/{bytes}", SendBytes),
};

std::vector<std::span<const http::Route>> Routes() {
  auto tables = app::AllRoutes(auth::Mode::kLive);
  tables.emplace_back(kCeilings);
  return tables;
}

sigset_t BlockedSignals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void Serve(const Flags& flags) {
  const sigset_t signals = BlockedSignals();
  const config::Options options = config::Load(flags);
  const db::DirectoryLock lock = Own(options);
  const Clock& clock = SystemClock();
  metrics::Registry metrics;
  Heartbeats heartbeats(clock);
  db::Database database(DatabaseSettings(options), clock, heartbeats, metrics);
  auth::KeyTable keys;
  auth::Gate gate({}, keys, clock);
  http::LongPolls long_polls(options.workers / 2);
  http::AnswerCache answers(8 * 1024 * 1024);
  http::AnswerBudget answer_budget;
  db::DiskSpace space({.directory = options.data_directory,
                       .low_bytes = 0,
                       .tight_bytes = 0,
                       .orders_only_bytes = 0,
                       .ballast_bytes = 0},
                      metrics);
  http::Site site{.mode = auth::Mode::kLive,
                  .options = options,
                  .clock = clock,
                  .database = database,
                  .space = space,
                  .gate = gate,
                  .metrics = metrics,
                  .readiness = [] { return std::vector<http::Readiness>(); },
                  .long_polls = long_polls,
                  .answers = answers,
                  .answer_budget = answer_budget,
                  .read_event_body = events::BodyOf};
  http::Dispatcher dispatcher(site, Routes());
  database.Read([&](db::Snapshot& snapshot) {
    events::LoadCounters(snapshot, database.counters());
    std::vector<std::string> damage;
    keys.Load(keys::LoadAll(snapshot, clock, damage));
  });

  const ops::Names names = ops::MachineNames(options);
  wire::Tls tls(ops::CurrentCertificate(options, names, {clock.Now(), clock.Now(), 0}).pair);
  wire::ServerSettings settings{
      .listen = options.listen,
      .workers = options.workers,
      .host_allowed = [&](std::string_view host) { return names.Allows(host); },
      .errors_base = options.errors_base};
  const wire::Server server(
      std::move(settings), [&dispatcher](wire::Exchange& exchange) { dispatcher.Handle(exchange); },
      &tls, clock, metrics);
  int signal = 0;
  ::sigwait(&signals, &signal);
}

// The ceiling of a durable create

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// What a till sends over and over (create.lua sends the same).
orders::OrderDraft Draft() {
  orders::OrderDraft draft;
  draft.fields.order_title = "Mesa 4";
  draft.fields.comment = "sin cebolla";
  return draft;
}

orders::Placement MakePlacement(const std::string& key, const std::string& fingerprint, UtcMs now) {
  constexpr uint64_t kLeast = 1'000'000'000;  // ten digits, the first of them 1 to 9
  orders::Placement placement;
  placement.id = NewId(now);
  for (int i = 0; i < 4; ++i) {
    placement.public_numbers.push_back(std::to_string(kLeast + RandomBelow(9 * kLeast)));
  }
  placement.reference = key;
  placement.fingerprint = fingerprint;
  placement.actor = "key:0192f0a0-0000-7000-8000-000000000001";
  return placement;
}

// The job of POST /v1/orders.
void PlaceOne(db::Database& database, const company::Company& company, const std::string& key,
              const std::string& fingerprint, UtcMs now) {
  const orders::OrderDraft draft = Draft();
  const orders::Placement placement = MakePlacement(key, fingerprint, now);
  database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const orders::Placed placed = orders::Place(tx, company, draft, placement, stamp);
    http::Response response = http::Data(placed.record.json, 201);
    response.etag = '"' + std::to_string(placed.record.version) + '"';
    response.location = "/v1/orders/" + placed.record.id;
  });
}

void RunWriter(Flags flags) {
  const int64_t seconds = TakeNumber(flags, "seconds", 3);
  const int64_t threads = TakeNumber(flags, "threads", 64);
  const config::Options options = config::Load(flags);
  const db::DirectoryLock lock = Own(options);
  const Clock& clock = SystemClock();
  metrics::Registry metrics;
  Heartbeats heartbeats(clock);
  db::Database database(DatabaseSettings(options), clock, heartbeats, metrics);
  const company::Company company =
      database.Read([](db::Snapshot& snapshot) { return company::All(snapshot).at(0); });

  const std::string fingerprint = crypto::Sha256Hex("the request");
  const std::string run = NewId(clock.Now());
  std::atomic<int64_t> placed{0};
  const double cpu_before = CpuSeconds();
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + std::chrono::seconds(seconds);
  {
    std::vector<std::jthread> tills;
    for (int64_t till = 0; till < threads; ++till) {
      tills.emplace_back([&, till] {
        for (int64_t n = 0; std::chrono::steady_clock::now() < end; ++n) {
          const std::string key = run + '-' + std::to_string(till) + '-' + std::to_string(n);
          PlaceOne(database, company, key, fingerprint, clock.Now());
          ++placed;
        }
      });
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("{\"requests\":%lld,\"seconds\":%.6f,\"cpu_seconds\":%.6f}\n",
              static_cast<long long>(placed.load()), took.count(), CpuSeconds() - cpu_before);
}

int Run(int count, char** words) {
  const std::string_view command = count > 1 ? words[1] : "";
  if (command == "serve") {
    Serve(ReadFlags(count, words));
  } else if (command == "writer") {
    RunWriter(ReadFlags(count, words));
  } else {
    std::fputs(
        "usage: comanda_bench serve|writer --data DIR ... (the head of tests/bench/ceiling.cc)\n",
        stderr);
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace comanda::bench

int main(int count, char** words) {
  try {
    return comanda::bench::Run(count, words);
  } catch (const comanda::Refusal& refusal) {
    std::fprintf(stderr, "comanda_bench: %s\n", refusal.detail.c_str());
  } catch (const comanda::Fault& fault) {
    std::fprintf(stderr, "comanda_bench: %s\n", fault.cause.c_str());
  }
  return 1;
}
