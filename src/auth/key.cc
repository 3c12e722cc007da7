#include "auth/key.h"

#include <algorithm>

#include "base/gzip.h"
#include "base/random.h"
#include "crypto/hash.h"

namespace comanda::auth {
namespace {

constexpr std::string_view kAlphabet =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr size_t kBodySize = 32;
constexpr size_t kChecksumSize = 6;

bool IsOfAlphabet(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

constexpr std::string_view Infix(Mode mode) { return mode == Mode::kLive ? "_live_" : "_test_"; }

std::string Checksum(std::string_view text) {
  size_t rest = Crc32(text);
  std::string out(kChecksumSize, kAlphabet[0]);
  for (size_t i = kChecksumSize; i-- > 0; rest /= kAlphabet.size()) {
    out[i] = kAlphabet[rest % kAlphabet.size()];
  }
  return out;
}

}  // namespace

std::string MakeKey(std::string_view prefix, Mode mode) {
  std::string body;
  for (size_t i = 0; i < kBodySize; ++i) body += kAlphabet[RandomBelow(kAlphabet.size())];
  return CompleteKey(prefix, mode, body);
}

std::string CompleteKey(std::string_view prefix, Mode mode, std::string_view body) {
  std::string key = std::string(prefix) + std::string(Infix(mode)) + std::string(body);
  return key + Checksum(key);
}

std::optional<Mode> ModeOfKey(std::string_view key) {
  constexpr size_t kTail = kBodySize + kChecksumSize;
  if (key.size() <= kTail) return std::nullopt;
  const std::string_view head = key.substr(0, key.size() - kTail);
  if (!std::ranges::all_of(key.substr(head.size()), IsOfAlphabet)) return std::nullopt;
  if (Checksum(key.substr(0, key.size() - kChecksumSize)) !=
      key.substr(key.size() - kChecksumSize)) {
    return std::nullopt;
  }
  for (const Mode mode : {Mode::kLive, Mode::kTest}) {
    if (head.size() > Infix(mode).size() && head.ends_with(Infix(mode))) return mode;
  }
  return std::nullopt;
}

Ended KeyRecord::EndedAt(UtcMs settled_now, int64_t monotonic_ms) const {
  if (ended != Ended::kNot) return ended;
  const bool is_revoked =
      grace_until_ms ? *grace_until_ms <= monotonic_ms : revoked_at && *revoked_at <= settled_now;
  if (is_revoked) return Ended::kRevoked;
  const bool is_expired =
      (expires_at && *expires_at <= settled_now) || IdleEndMs().value_or(INT64_MAX) <= monotonic_ms;
  return is_expired ? Ended::kExpired : Ended::kNot;
}

std::optional<int64_t> KeyRecord::IdleEndMs() const {
  constexpr int64_t kDayMs = 86'400'000;
  if (!idle_days) return std::nullopt;
  return use->used_at_ms.load(std::memory_order_relaxed) + *idle_days * kDayMs;
}

}  // namespace comanda::auth
