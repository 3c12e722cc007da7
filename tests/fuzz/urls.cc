// A URL that somebody gives the box to call, and what the address rules say of its host.

#include <string>
#include <vector>

#include "base/address.h"
#include "fuzz/fuzz.h"
#include "net/url.h"
#include "webhooks/address_rules.h"

namespace comanda {
namespace {

using fuzz::Must;

// A machine that has one neighbourhood and may call another network.
const webhooks::Networks& Machine() {
  static const webhooks::Networks networks = {.own = {*ParseAddress("192.168.1.10")},
                                              .subnets = {*AddressRange::Parse("192.168.1.0/24")},
                                              .allowed = {*AddressRange::Parse("10.0.0.0/8")},
                                              .is_connected = true};
  return networks;
}

void Judge(const Address& address) {
  for (const bool is_https : {false, true}) {
    const auto why = webhooks::WhyRefused(Machine(), address, is_https);
    Must(!why || !why->empty(), "a refusal says why");
  }
  const auto is_refused = [&](const char* range) {
    return !AddressRange::Parse(range)->Contains(address) ||
           webhooks::WhyRefused(Machine(), address, true).has_value();
  };
  for (const char* range : {"127.0.0.0/8", "169.254.0.0/16", "192.168.1.10/32", "::1/128",
                            "0.0.0.0/8", "::ffff:127.0.0.0/104", "64:ff9b::7f00:0/104"}) {
    Must(is_refused(range), "the box itself and its machine are never called");
  }
}

void Run(const std::string& text) {
  const webhooks::ParsedUrl parsed = webhooks::ParseUrl(text);
  Must(parsed.target.has_value() == parsed.wrong.empty(), "a URL is a target, or wrong");
  const net::ParsedUrl parts = net::ParseUrl(text);
  if (parts.wrong == net::UrlMistake::kNone) {
    const std::string host = parts.url.host;
    Must(host == AsciiLower(host) && !host.empty(), "a host is in lower case");
    const bool is_ipv6 = host.find(':') != std::string::npos;
    const std::string again = parts.url.scheme + "://" + (is_ipv6 ? "[" + host + "]" : host) + ":" +
                              std::to_string(parts.url.port) + "/";
    const net::ParsedUrl twice = net::ParseUrl(again);
    Must(parts.url.port == 0 || (twice.wrong == net::UrlMistake::kNone && twice.url.host == host &&
                                 twice.url.port == parts.url.port),
         "a host is called by the name that is judged");
  }
  if (!parsed.target) return;
  Must(parts.wrong == net::UrlMistake::kNone && parts.url.host == parsed.target->host,
       "both readers mean the same host");
  if (parsed.target->literal) Judge(*parsed.target->literal);
}

}  // namespace
}  // namespace comanda

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  comanda::Run(std::string(comanda::fuzz::TextOf(data, size)));
  return 0;
}
