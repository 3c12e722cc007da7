#include "net/internet.h"

#include <algorithm>
#include <array>

#include "base/address.h"
#include "base/text.h"

namespace comanda::net {
namespace {

// Above the longest pause between two calls of the sync (cloud/syncer.cc) with their timeouts.
constexpr int64_t kShownMs = 20 * 60'000;
// A single failure is no news.
constexpr int kFailuresToReport = 2;

constexpr std::array<std::string_view, 13> kNotPublic = {
    "0.0.0.0/8",     "10.0.0.0/8",     "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
    "172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/3",   "::/127",      "fc00::/7",
    "fe80::/10",     "fec0::/10",      "ff00::/8"};
constexpr std::array<std::string_view, 5> kLocalDomains = {".local", ".localhost", ".lan",
                                                           ".internal", ".home.arpa"};

}  // namespace

bool IsPublicAddress(std::string_view numeric) {
  const auto address = ParseAddress(numeric);
  return address && std::ranges::none_of(kNotPublic, [&](std::string_view range) {
           return AddressRange::Parse(range)->Contains(*address);
         });
}

bool IsPublicName(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.find('.') == host.npos || ParseAddress(host)) return false;
  const std::string name = AsciiLower(host);
  return std::ranges::none_of(kLocalDomains,
                              [&](std::string_view domain) { return name.ends_with(domain); });
}

void Internet::Note(Evidence evidence, std::string_view host, int64_t now_ms) {
  if (evidence == Evidence::kNone) return;
  const std::lock_guard lock(mutex_);
  if (evidence == Evidence::kConnected) {
    connected_ms_ = now_ms;
    failures_ = {};
    return;
  }
  if (failures_.count == 0) failures_ = {.first_ms = now_ms, .host = std::string(host)};
  ++failures_.count;
  failures_.last_ms = now_ms;
  if (evidence == Evidence::kNoRoute || failures_.host != host) failures_.is_certain = true;
}

Internet::Now Internet::Get(int64_t now_ms) const {
  const std::lock_guard lock(mutex_);
  if (failures_.count >= kFailuresToReport && failures_.is_certain &&
      now_ms - failures_.last_ms < kShownMs) {
    return {.state = State::kDown, .since_ms = now_ms - failures_.first_ms};
  }
  // A host that does not answer leaves open whether the internet is what is missing.
  if (failures_.count < kFailuresToReport && connected_ms_ && now_ms - *connected_ms_ < kShownMs) {
    return {.state = State::kOk, .since_ms = now_ms - *connected_ms_};
  }
  return {};
}

std::string_view Name(Internet::State state) {
  switch (state) {
    case Internet::State::kOk:
      return "ok";
    case Internet::State::kDown:
      return "down";
    case Internet::State::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace comanda::net
