#pragma once

// Where connections come from: how many each source has open, how many of them have not shown a
// valid key yet ("strangers"), and which sources showed one lately. Knows no sockets.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

struct sockaddr;

namespace comanda::wire {

struct Source {
  std::string name;
  size_t open = 0;
  size_t strangers = 0;      // of them: those that have not shown a valid key
  uint64_t known_since = 0;  // 0: never showed a valid key; else higher is later
  bool IsTrusted() const { return known_since != 0; }
  size_t Excess() const;  // the strangers that count against the limit of all
};

// One address for IPv4, one /64 network for IPv6, all of a Unix socket.
std::string SourceOf(const sockaddr& address);

// Not for several threads at once.
class Sources {
 public:
  // Of each source that showed a valid key lately, so many strangers do not count as such: its next
  // connection gets in however many strangers there are.
  static constexpr size_t kPlacesKept = 8;
  static constexpr size_t kKnownMax = 256;  // more than a restaurant has devices

  // The source of one more connection, which counts as open from now on; valid until it leaves.
  Source& Open(const std::string& name);
  // Whether one more stranger of this source would count as such.
  static bool CountsAsStranger(const Source& source);

  void AddStranger(Source& source);              // the connection is let in
  void ShowKey(Source& source);                  // one of the strangers showed a valid key
  void Leave(Source& source, bool is_stranger);  // may forget the source

  size_t strangers() const { return excess_; }  // that count
  // Strangers of sources that never showed a valid key.
  size_t of_untrusted() const { return of_untrusted_; }

 private:
  template <typename Change>
  void Adjust(Source& source, Change change);
  void ForgetIfUnused(Source& source);
  void ForgetLongestKnown();

  std::unordered_map<std::string, Source> sources_;
  size_t excess_ = 0;
  size_t of_untrusted_ = 0;
  size_t known_ = 0;
  uint64_t keys_shown_ = 0;
};

}  // namespace comanda::wire
