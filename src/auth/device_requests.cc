#include "auth/device_requests.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/address.h"
#include "base/problem.h"
#include "base/random.h"
#include "crypto/hash.h"

namespace comanda::auth {
namespace {

constexpr size_t kTextSize = 22;
constexpr uint64_t kNumbers = 1'000'000;
constexpr size_t kDigits = 6;
constexpr int64_t kWindowMs = 60'000;
constexpr size_t kKeysCountedMax = 1'000;

std::string NewText() {
  constexpr std::string_view kAlphabet =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string text;
  for (size_t i = 0; i < kTextSize; ++i) text += kAlphabet[RandomBelow(kAlphabet.size())];
  return text;
}

int SecondsUntil(int64_t then_ms, int64_t now_ms) {
  return static_cast<int>(std::max<int64_t>((then_ms - now_ms + 999) / 1000, 1));
}

}  // namespace

DeviceRequests::Made DeviceRequests::Add(DeviceRequest asked, int64_t monotonic_ms) {
  const std::lock_guard lock(mutex_);
  DropEnded(monotonic_ms);
  std::string source = ClientOf(asked.address);
  size_t of_source = 0;
  int64_t first_end_ms = INT64_MAX;
  for (const auto& [hash, entry] : entries_) {
    if (entry.source != source) continue;
    ++of_source;
    first_end_ms = std::min(first_end_ms, entry.ends_at_ms);
  }
  if (of_source >= kDeviceRequestsOfSourceMax) {
    Refusal refusal(Problem::kRateLimitExceeded,
                    "Two devices at this address ask to be let in already; let them in or wait.");
    refusal.retry_after_s = SecondsUntil(first_end_ms, monotonic_ms);
    throw refusal;
  }
  if (entries_.size() >= kDeviceRequestsMax) MakeRoom();
  Made made{.text = NewText(), .request = std::move(asked)};
  made.request.number = NewNumber();
  entries_.insert_or_assign(crypto::Sha256Hex(made.text),
                            Entry{.request = made.request,
                                  .source = std::move(source),
                                  .ends_at_ms = monotonic_ms + kDeviceRequestLifeMs,
                                  .place = ++last_place_,
                                  .claimer = "",
                                  .key = std::nullopt});
  return made;
}

std::vector<DeviceRequest> DeviceRequests::Waiting(int64_t monotonic_ms) const {
  const std::lock_guard lock(mutex_);
  std::map<uint64_t, DeviceRequest> by_place;
  for (const auto& [hash, entry] : entries_) {
    if (!FindWaiting(entry.request.number, monotonic_ms)) continue;
    by_place.emplace(entry.place, entry.request);
  }
  std::vector<DeviceRequest> waiting;
  for (auto& [place, request] : by_place) waiting.push_back(std::move(request));
  return waiting;
}

std::optional<DeviceRequest> DeviceRequests::Find(std::string_view number,
                                                  int64_t monotonic_ms) const {
  const std::lock_guard lock(mutex_);
  const Entry* entry = FindWaiting(number, monotonic_ms);
  if (!entry) return std::nullopt;
  return entry->request;
}

std::optional<DeviceRequest> DeviceRequests::Claim(std::string_view number,
                                                   std::string_view claimer, int64_t monotonic_ms) {
  const std::lock_guard lock(mutex_);
  Entry* entry = FindEntry(number);
  if (!entry || entry->ends_at_ms <= monotonic_ms || entry->key) return std::nullopt;
  if (!entry->claimer.empty() && entry->claimer != claimer) return std::nullopt;
  entry->claimer = claimer;
  return entry->request;
}

void DeviceRequests::Release(std::string_view number, std::string_view claimer) {
  const std::lock_guard lock(mutex_);
  Entry* entry = FindEntry(number);
  if (entry && entry->claimer == claimer && !entry->key) entry->claimer.clear();
}

void DeviceRequests::Accept(std::string_view number, std::string_view claimer, GrantedKey key) {
  const std::lock_guard lock(mutex_);
  Entry* entry = FindEntry(number);
  if (entry && entry->claimer == claimer) entry->key = std::move(key);
}

void DeviceRequests::Drop(std::string_view number, std::string_view claimer) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& one) {
    return one.second.request.number == number && one.second.claimer == claimer;
  });
}

DeviceRequests::Collected DeviceRequests::Collect(std::string_view text, int64_t monotonic_ms) {
  const std::string hash = crypto::Sha256Hex(text);
  const std::lock_guard lock(mutex_);
  DropEnded(monotonic_ms);
  const auto found = entries_.find(hash);
  if (found == entries_.end()) return {};
  Collected collected{.is_known = true, .key = std::move(found->second.key)};
  if (collected.key) entries_.erase(found);
  return collected;
}

uint64_t DeviceRequests::BeginPoll(std::string_view text) {
  const std::string hash = crypto::Sha256Hex(text);
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(hash);
  return found == entries_.end() ? 0 : ++found->second.polls;
}

bool DeviceRequests::HasNews(std::string_view text, uint64_t poll, int64_t monotonic_ms) const {
  const std::string hash = crypto::Sha256Hex(text);
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(hash);
  return found == entries_.end() || found->second.key || found->second.polls != poll ||
         found->second.ends_at_ms <= monotonic_ms;
}

void DeviceRequests::CountWrongNumber(std::string_view key, int64_t monotonic_ms) {
  const std::lock_guard lock(mutex_);
  std::erase_if(mistakes_,
                [&](const auto& one) { return monotonic_ms - one.second.since_ms >= kWindowMs; });
  if (mistakes_.size() >= kKeysCountedMax) mistakes_.clear();
  Mistakes& mistakes =
      mistakes_.try_emplace(std::string(key), Mistakes{monotonic_ms}).first->second;
  ++mistakes.count;
}

void DeviceRequests::RequireNumbersLeft(std::string_view key, int64_t monotonic_ms) {
  const std::lock_guard lock(mutex_);
  const auto found = mistakes_.find(std::string(key));
  if (found == mistakes_.end() || found->second.count < kWrongNumbersMax) return;
  const int64_t ends_at_ms = found->second.since_ms + kWindowMs;
  if (ends_at_ms <= monotonic_ms) return;
  Refusal refusal(Problem::kRateLimitExceeded,
                  "This key has typed too many wrong numbers; look at the device and try again "
                  "later.");
  refusal.retry_after_s = SecondsUntil(ends_at_ms, monotonic_ms);
  throw refusal;
}

void DeviceRequests::DropEnded(int64_t monotonic_ms) {
  std::erase_if(entries_, [&](const auto& one) { return one.second.ends_at_ms <= monotonic_ms; });
}

// One that is being accepted goes last.
void DeviceRequests::MakeRoom() {
  std::map<std::string_view, size_t> of_source;
  for (const auto& [hash, entry] : entries_) ++of_source[entry.source];
  const auto goes_first = [&](const auto& a, const auto& b) {
    const auto rank = [&](const Entry& entry) {
      return std::tuple(!entry.claimer.empty(), ~of_source[entry.source], entry.place);
    };
    return rank(a.second) < rank(b.second);
  };
  entries_.erase(std::ranges::min_element(entries_, goes_first));
}

std::string DeviceRequests::NewNumber() const {
  while (true) {
    std::string number = std::to_string(RandomBelow(kNumbers));
    number.insert(0, kDigits - number.size(), '0');
    const auto has_it = [&](const auto& one) { return one.second.request.number == number; };
    if (std::ranges::none_of(entries_, has_it)) return number;
  }
}

DeviceRequests::Entry* DeviceRequests::FindEntry(std::string_view number) {
  for (auto& [hash, entry] : entries_) {
    if (entry.request.number == number) return &entry;
  }
  return nullptr;
}

const DeviceRequests::Entry* DeviceRequests::FindWaiting(std::string_view number,
                                                         int64_t monotonic_ms) const {
  for (const auto& [hash, entry] : entries_) {
    if (entry.request.number != number) continue;
    const bool waits = entry.claimer.empty() && entry.ends_at_ms > monotonic_ms;
    return waits ? &entry : nullptr;
  }
  return nullptr;
}

}  // namespace comanda::auth
