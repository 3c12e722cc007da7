#pragma once

// What ends by time, and is stored as ended when it ends (contract section 1, Timestamps): what has
// once ended never comes back, however the clock is set afterwards.
//
// Each kind of such a thing has one row in the Ends of its database (app/environment.cc,
// app/neighbours.cc): API keys with their expiry and the grace of a rotated one, pairing codes,
// dishes that are sold out for a while, the graces of webhooks' secrets.
// A kind keeps three rules:
//
// 1. A date that a person named (the expiry of a key) is reached by settled time. A length that
//    this process granted (a grace, the life of a code) is measured by monotonic time; after a
//    restart the rest of it by settled time. So a step of the wall clock that is not believed yet
//    ends nothing, and makes no grace longer or shorter.
// 2. Once the end is reached, memory knows it, whether or not it can be written.
// 3. write_down() stores it as a fact in the row, which no clock changes.
//
// One thread (app/app.h, "ends") calls WriteDown() when the next end is due.
//
// Not here, since no clock revives it: rows that are deleted when they are old (events/retention.h,
// http/idempotency.h), which is decided by counted time or Clock::RetentionNow(); what a person
// ends (machine/hold.h); waits, limits, and the tokens and answers of delivery apps, which are in
// memory and measured by monotonic time; certificates (ops/certificate_rule.h).

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace comanda {

// A kind of thing that ends. Any thread may call the functions.
struct EndingKind {
  std::string name;  // in the log: "API keys"
  // Milliseconds until the next end whose time has not come yet if the clock is not set; nothing if
  // none will.
  std::function<std::optional<int64_t>()> due_in_ms;
  // Stores what has ended. Does nothing if all of that is stored. Throws Fault if it cannot be
  // written; the next call tries again.
  std::function<void()> write_down;
};

// The kinds of one database. Any thread.
class Ends {
 public:
  explicit Ends(std::vector<EndingKind> kinds) : kinds_(std::move(kinds)) {}

  // The smallest due_in_ms of all kinds.
  std::optional<int64_t> DueInMs() const;
  // Calls write_down of each kind. A failure of one does not prevent the others; the first of
  // several in a row is logged. Blocks for the writer.
  void WriteDown();

 private:
  const std::vector<EndingKind> kinds_;
  std::atomic<bool> has_failed_ = false;  // the last WriteDown()
};

}  // namespace comanda
