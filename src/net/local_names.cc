#include "net/local_names.h"

#include <ares.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "base/time/clock.h"
#include "base/text.h"

namespace comanda::net {
namespace {

constexpr std::string_view kSuffix = ".local";
// An answer is one line with a name and an address.
constexpr size_t kAnswerBytesMax = 1'024;

// The host as avahi and hosts files have it.
std::string Plain(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  return AsciiLower(host);
}

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) words.push_back(TakePiece(line, ' '));
  return words;
}

bool IsIpv4(std::string_view text) {
  in_addr address{};
  return text.find('\0') == text.npos &&
         ::inet_pton(AF_INET, std::string(text).c_str(), &address) == 1;
}

}  // namespace

bool IsMulticastName(std::string_view host) {
  const std::string name = Plain(host);
  if (!name.ends_with(kSuffix) || name.size() == kSuffix.size()) return false;
  // The name becomes a line of avahi's protocol.
  const std::string_view label = std::string_view(name).substr(0, name.size() - kSuffix.size());
  return std::ranges::all_of(
      label, [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_'; });
}

bool IsInHosts(const std::string& host, const std::string& hosts_file) {
  const std::string name = Plain(host);
  std::string path = hosts_file;
  ares_options options{};
  options.hosts_path = path.data();
  ares_channel_t* opened = nullptr;
  if (ares_init_options(&opened, &options, ARES_OPT_HOSTS_FILE) != ARES_SUCCESS) return false;
  const std::unique_ptr<ares_channel_t, void (*)(ares_channel_t*)> channel(opened, ares_destroy);
  hostent* found = nullptr;
  const int status = ares_gethostbyname_file(channel.get(), name.c_str(), AF_UNSPEC, &found);
  if (found != nullptr) ares_free_hostent(found);
  return status == ARES_SUCCESS;
}

AvahiQuery::AvahiQuery(const LocalNames& names, const std::string& host, int64_t timeout_ms)
    : host_(Plain(host)),
      deadline_ms_(SystemClock().MonotonicMs() + std::min(timeout_ms, kTimeoutMs)) {
  Ask(names.avahi_socket);
}

AvahiQuery::~AvahiQuery() { Close(); }

void AvahiQuery::Ask(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof(address.sun_path)) return Fail("the path of its socket is long");
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return Fail(std::strerror(errno));
  // A Unix socket connects at once, or not at all (EAGAIN: too many wait to be accepted).
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    const bool is_absent = errno == ENOENT || errno == ECONNREFUSED;
    return Fail(is_absent ? "avahi-daemon does not run" : std::strerror(errno));
  }
  const std::string query = "RESOLVE-HOSTNAME-IPV4 " + host_ + "\n";
  // Far smaller than what the socket holds before anybody reads it.
  if (::send(socket_, query.data(), query.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(query.size())) {
    Fail("avahi-daemon closed the connection");
  }
}

bool AvahiQuery::Continue() {
  while (socket_ >= 0) {
    std::array<char, 512> bytes;
    const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (count <= 0) {
      Fail("avahi-daemon closed the connection");
      return true;
    }
    received_.append(bytes.data(), static_cast<size_t>(count));
    const size_t end = received_.find('\n');
    if (end != std::string::npos) {
      Read(std::string_view(received_).substr(0, end));
      return true;
    }
    if (received_.size() > kAnswerBytesMax) Fail("avahi-daemon's answer has no end");
  }
  if (socket_ >= 0 && LeftMs() == 0) Fail("no answer in time");
  return socket_ < 0;
}

int64_t AvahiQuery::LeftMs() const {
  return std::max(int64_t{0}, deadline_ms_ - SystemClock().MonotonicMs());
}

// "+ 2 0 till.local 192.168.1.20": the interface, the protocol, the name, the address. "-15 Timeout
// reached": an error.
void AvahiQuery::Read(std::string_view line) {
  const std::vector<std::string_view> words = Words(Trimmed(line));
  if (words.size() == 5 && words[0] == "+" && IsIpv4(words[4])) {
    address_ = words[4];
    return Close();
  }
  if (words.size() > 1 && words[0].starts_with('-')) {
    return Fail("avahi-daemon: " + Visible(line.substr(words[0].size() + 1)));
  }
  Fail("avahi-daemon's answer is not understood");
}

void AvahiQuery::Fail(std::string_view why) {
  error_ = "no address was found for " + host_ + " (" + std::string(why) +
           "): " + std::string(kLocalNameAdvice);
  Close();
}

void AvahiQuery::Close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

}  // namespace comanda::net
