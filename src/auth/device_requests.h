#pragma once

// Devices that ask to be let in (contract section 3). A device without a camera shows six digits;
// somebody who is let in already types them, and chooses its role and name. In memory alone: a
// request lasts for ten minutes, and a restart ends all of them.
//
// The text of a request, which the device keeps, has 130 bits and collects the key; the number,
// which people read, collects nothing. A request is collected once, and a number that was accepted
// is accepted by nobody else.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "auth/roles.h"
#include "base/time/clock.h"

namespace comanda::auth {

inline constexpr int64_t kDeviceRequestLifeMs = 600'000;
inline constexpr size_t kDeviceRequestsMax = 20;
inline constexpr size_t kDeviceRequestsOfSourceMax = 2;
// Numbers that one key may mistype within a minute.
inline constexpr int kWrongNumbersMax = 10;

struct DeviceRequest {
  std::string number;  // six digits
  // What the device says of itself.
  Role role = Role::kKitchen;
  std::string name;
  std::string address;
  UtcMs asked_at = 0;
  UtcMs expires_at = 0;
};

// What a device gets, once.
struct GrantedKey {
  std::string id;
  std::string json;  // its record, with its text
};

// Any thread.
class DeviceRequests {
 public:
  struct Made {
    std::string text;  // for the device alone
    DeviceRequest request;
  };
  // Throws Refusal rate_limit_exceeded where the source of `asked.address` has
  // kDeviceRequestsOfSourceMax already. Where there are kDeviceRequestsMax, the new one takes the
  // place of the oldest one of the source that has most.
  Made Add(DeviceRequest asked, int64_t monotonic_ms);

  // Those that wait to be accepted, the oldest first.
  std::vector<DeviceRequest> Waiting(int64_t monotonic_ms) const;
  // One that waits to be accepted.
  std::optional<DeviceRequest> Find(std::string_view number, int64_t monotonic_ms) const;

  // Accepting and refusing have two steps, since between them a transaction writes the key and the
  // audit log: Claim() lets `claimer` alone go on, and again where its transaction runs again;
  // Accept(), Drop() or Release() follows.
  std::optional<DeviceRequest> Claim(std::string_view number, std::string_view claimer,
                                     int64_t monotonic_ms);
  void Release(std::string_view number, std::string_view claimer);
  void Accept(std::string_view number, std::string_view claimer, GrantedKey key);
  void Drop(std::string_view number, std::string_view claimer);

  // What the device with the text of a request is answered: once accepted its key, once.
  struct Collected {
    bool is_known = false;
    std::optional<GrantedKey> key;  // nothing: it waits
  };
  Collected Collect(std::string_view text, int64_t monotonic_ms);
  // One poll of a request waits: a newer one ends it. BeginPoll() returns the number of the poll.
  uint64_t BeginPoll(std::string_view text);
  // True where Collect() would answer something else than at first, or a newer poll has begun.
  bool HasNews(std::string_view text, uint64_t poll, int64_t monotonic_ms) const;

  // Counts a number that `key` mistyped. After kWrongNumbersMax within a minute
  // RequireNumbersLeft() throws Refusal rate_limit_exceeded until the minute is over.
  void CountWrongNumber(std::string_view key, int64_t monotonic_ms);
  void RequireNumbersLeft(std::string_view key, int64_t monotonic_ms);

 private:
  struct Entry {
    DeviceRequest request;
    std::string source;
    int64_t ends_at_ms = 0;         // monotonic
    uint64_t place = 0;             // counts up: the age among others
    std::string claimer;            // empty: it waits
    std::optional<GrantedKey> key;  // accepted
    uint64_t polls = 0;
  };
  struct Mistakes {
    int64_t since_ms = 0;
    int count = 0;
  };
  using Entries = std::unordered_map<std::string, Entry>;

  // The mutex is held.
  void DropEnded(int64_t monotonic_ms);
  void MakeRoom();
  std::string NewNumber() const;
  Entry* FindEntry(std::string_view number);
  const Entry* FindWaiting(std::string_view number, int64_t monotonic_ms) const;

  mutable std::mutex mutex_;
  // Guarded by mutex_; by the hash of the text.
  Entries entries_;
  uint64_t last_place_ = 0;
  std::unordered_map<std::string, Mistakes> mistakes_;
};

}  // namespace comanda::auth
