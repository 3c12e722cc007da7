#pragma once

// The parts of a URL as libcurl reads them when it calls it. Refuses every URL that another reader
// may understand differently, since who judges a URL (webhooks/address_rules.h), who calls it and
// who shows it must mean the same host: RFC 3986 without user, fragment, zone, percent-encoding in
// the host, empty port or empty labels, and without the backslashes and invisible characters that
// browsers correct. Any thread.

#include <cstdint>
#include <string>

namespace comanda::net {

struct Url {
  std::string scheme;  // lower case
  // Lower case, without brackets and without a dot at its end. An IPv4 address in any spelling is
  // written with four numbers.
  std::string host;
  int port =
      0;  // of the scheme where the URL names none; 0 for a scheme that libcurl knows none of
};

enum class UrlMistake : uint8_t {
  kNone,
  kNoUrl,  // no "scheme://host", or a character that a URL cannot have
  kUser,
  kFragment,
  kPort,
  kHost,  // neither a host name (RFC 1123, underscores too) nor an address
};

struct ParsedUrl {
  Url url;  // where nothing is wrong
  UrlMistake wrong = UrlMistake::kNone;
};
ParsedUrl ParseUrl(const std::string& text);

}  // namespace comanda::net
