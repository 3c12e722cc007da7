#pragma once

// The messages to one destination that are late (outbox/lane.h), for a room whose messages are
// changes of its own records: after a start each is tried at once. People are shown this list. Any
// thread.

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "outbox/lane.h"

namespace comanda::outbox {

struct Late {
  std::string key;
  UtcMs since = 0;  // the first failure
  Failing failing;
  std::string trouble;  // of the last failure

  bool operator==(const Late&) const = default;
};

class LateMessages {
 public:
  explicit LateMessages(const Patience& patience) : patience_(patience) {}

  struct Noted {
    int64_t failures = 0;
    bool must_park = false;
  };
  // The message has failed once more, while the destination answered something else.
  // `failures_before`: how often it did before it was in this list, where the caller stores that.
  Noted NoteFailure(std::string_view key, std::string_view trouble, const Moment& moment,
                    int64_t failures_before = 0);
  // False where it is not late.
  bool Remove(std::string_view key);
  void Clear();
  // All are tried again at once.
  void MakeDue();

  bool Contains(std::string_view key) const { return Find(key).has_value(); }
  std::optional<Late> Find(std::string_view key) const;
  // The ms until the first is tried again; nothing where none is late.
  std::optional<int64_t> DueInMs(int64_t now_ms) const;
  std::vector<Late> List() const;

 private:
  const Patience patience_;
  mutable std::mutex mutex_;
  std::map<std::string, Late, std::less<>> messages_;  // guarded by mutex_
};

}  // namespace comanda::outbox
