#include "wire/sources.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/address.h"

namespace comanda::wire {

std::string SourceOf(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.sa_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &in.sin_addr, text.data(), text.size());
  } else if (address.sa_family == AF_INET6) {
    const auto& in6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &in6.sin6_addr, text.data(), text.size());
  } else {
    return "local";
  }
  return ClientOf(text.data());
}

size_t Source::Excess() const {
  if (trusted_since == 0) return unauthenticated;
  return unauthenticated - std::min(unauthenticated, Sources::kReserved);
}

Source& Sources::Open(const std::string& name) {
  Source& source = sources_[name];
  if (source.name.empty()) source.name = name;
  ++source.open;
  return source;
}

bool Sources::HasNoReserve(const Source& source) {
  return source.trusted_since == 0 || source.unauthenticated >= kReserved;
}

// Applies the change to the source and keeps the sums over all sources in step with it.
template <typename Change>
void Sources::Adjust(Source& source, Change change) {
  excess_ -= source.Excess();
  if (!source.IsTrusted()) of_untrusted_ -= source.unauthenticated;
  change();
  excess_ += source.Excess();
  if (!source.IsTrusted()) of_untrusted_ += source.unauthenticated;
}

void Sources::AddUnauthenticated(Source& source) {
  Adjust(source, [&] { ++source.unauthenticated; });
}

void Sources::Trust(Source& source) {
  if (source.trusted_since == 0) {
    if (trusted_ == kTrustedMax) DistrustOldest();
    ++trusted_;
  }
  Adjust(source, [&] {
    --source.unauthenticated;
    source.trusted_since = ++authentications_;
  });
}

void Sources::Leave(Source& source, bool is_unauthenticated) {
  Adjust(source, [&] {
    --source.open;
    if (is_unauthenticated) --source.unauthenticated;
  });
  ForgetIfUnused(source);
}

void Sources::ForgetIfUnused(Source& source) {
  if (source.open == 0 && source.trusted_since == 0) sources_.erase(sources_.find(source.name));
}

void Sources::DistrustOldest() {
  Source* oldest = nullptr;
  for (auto& [name, source] : sources_) {
    if (source.trusted_since == 0) continue;
    if (oldest == nullptr || source.trusted_since < oldest->trusted_since) oldest = &source;
  }
  Adjust(*oldest, [&] { oldest->trusted_since = 0; });
  --trusted_;
  ForgetIfUnused(*oldest);
}

}  // namespace comanda::wire
