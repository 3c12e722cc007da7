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
  if (known_since == 0) return strangers;
  return strangers - std::min(strangers, Sources::kPlacesKept);
}

Source& Sources::Open(const std::string& name) {
  Source& source = sources_[name];
  if (source.name.empty()) source.name = name;
  ++source.open;
  return source;
}

bool Sources::CountsAsStranger(const Source& source) {
  return source.known_since == 0 || source.strangers >= kPlacesKept;
}

// Keeps the sums right, whatever changes.
template <typename Change>
void Sources::Adjust(Source& source, Change change) {
  excess_ -= source.Excess();
  if (!source.IsTrusted()) of_untrusted_ -= source.strangers;
  change();
  excess_ += source.Excess();
  if (!source.IsTrusted()) of_untrusted_ += source.strangers;
}

void Sources::AddStranger(Source& source) {
  Adjust(source, [&] { ++source.strangers; });
}

void Sources::ShowKey(Source& source) {
  if (source.known_since == 0) {
    if (known_ == kKnownMax) ForgetLongestKnown();
    ++known_;
  }
  Adjust(source, [&] {
    --source.strangers;
    source.known_since = ++keys_shown_;
  });
}

void Sources::Leave(Source& source, bool is_stranger) {
  Adjust(source, [&] {
    --source.open;
    if (is_stranger) --source.strangers;
  });
  ForgetIfUnused(source);
}

void Sources::ForgetIfUnused(Source& source) {
  if (source.open == 0 && source.known_since == 0) sources_.erase(sources_.find(source.name));
}

void Sources::ForgetLongestKnown() {
  Source* longest = nullptr;
  for (auto& [name, source] : sources_) {
    if (source.known_since == 0) continue;
    if (longest == nullptr || source.known_since < longest->known_since) longest = &source;
  }
  Adjust(*longest, [&] { longest->known_since = 0; });
  --known_;
  ForgetIfUnused(*longest);
}

}  // namespace comanda::wire
