#include "ops/local_name.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "base/concat.h"
#include "base/text.h"
#include "net/local_names.h"

namespace comanda::ops {
namespace {

constexpr size_t kLabelMax = 63;
constexpr size_t kNameMax = 253;

bool IsLabelCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

bool IsLabel(std::string_view text) {
  return !text.empty() && text.size() <= kLabelMax && text.front() != '-' && text.back() != '-' &&
         std::ranges::all_of(text, IsLabelCharacter);
}

}  // namespace

std::string LocalLabel(std::string_view host) {
  std::string label;
  for (const char c : host.substr(0, host.find('.'))) {
    if (IsLabelCharacter(c) && !(label.empty() && c == '-')) label += c;
  }
  label.resize(std::min(label.size(), kLabelMax));
  while (label.ends_with('-')) label.pop_back();
  return label.empty() ? "comanda" : AsciiLower(label);
}

bool IsDnsName(std::string_view text) {
  if (text.empty() || text.size() > kNameMax) return false;
  while (true) {
    const size_t dot = text.find('.');
    if (!IsLabel(text.substr(0, dot))) return false;
    if (dot == text.npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::string HostName() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0) return {};
  return name;
}

std::string LocalName() { return LocalLabel(HostName()) + ".local"; }

std::string LocalNameTrouble(const std::set<std::string>& own) {
  const std::string name = LocalName();
  net::AvahiQuery query({}, name);
  while (!query.Continue()) {
    pollfd wait{.fd = query.socket(), .events = POLLIN, .revents = 0};
    ::poll(&wait, 1, static_cast<int>(query.LeftMs()));
  }
  if (query.address().empty()) {
    return Concat(
        {"devices do not find the box as ", name, ": ", query.error(), "; its address works"});
  }
  if (own.contains(query.address()) || query.address().starts_with("127.")) return {};
  return Concat({name, " is ", query.address(),
                 ", another machine: give this one another host name (hostnamectl set-hostname)"});
}

}  // namespace comanda::ops
