#include "app/pairing_uri.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/concat.h"
#include "base/problem.h"
#include "ops/certificates.h"
#include "ops/local_name.h"

namespace comanda::app {
namespace {

constexpr std::string_view kStandardPort = ":443";

// Where the environment is served, ADDR:PORT; the standard port is preferred. Of a server that does
// not run, what the settings say. Empty: nowhere.
std::string ListenOf(const http::Site& site) {
  const std::vector<std::string> all = site.listened();
  if (all.empty()) {
    return site.mode == auth::Mode::kLive ? site.options.listen : site.options.sandbox_listen;
  }
  const auto standard = std::ranges::find_if(
      all, [](const std::string& one) { return one.ends_with(kStandardPort); });
  return standard == all.end() ? all.front() : *standard;
}

// Where a device connects to: ADDRESS:PORT, without the port of https.
std::string AddressOf(const http::Site& site) {
  const std::string listen = ListenOf(site);
  if (listen.empty()) {
    throw Refusal(Problem::kValidationFailed,
                  "the sandbox is off (sandbox_listen): no device can reach it");
  }
  const size_t colon = listen.rfind(':');
  std::string address = listen.substr(0, colon);
  if (address == "0.0.0.0" || address == "[::]") {
    address = ops::LanAddress();
    if (address.find(':') != std::string::npos) address = Concat({"[", address, "]"});
  }
  if (address.empty()) {
    throw Refusal(Problem::kValidationFailed,
                  "the machine has no address in a network: connect it, or name one with "
                  "comanda pair --address");
  }
  const std::string port = listen.substr(colon);
  return port == kStandardPort ? address : address + port;
}

// In a query, RFC 3986 section 3.4.
std::string Escaped(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                          (c >= 'a' && c <= 'z') ||
                          std::string_view("-._~:").find(c) != std::string_view::npos;
    if (is_plain) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return out;
}

// With a certificate of the owner there is no pin: the device trusts its issuer.
std::string PinPart(const config::Options& options) {
  if (!options.tls_certificate.empty()) return {};
  const auto pin = ops::AuthorityPin(options);
  if (!pin) {
    throw Refusal(Problem::kValidationFailed,
                  ops::AuthorityPath(options) +
                      " cannot be read or is not there yet: start the server first, and run this "
                      "as its user or as root");
  }
  return "&p=" + *pin;
}

}  // namespace

std::string PairingUri(const http::Site& site, std::optional<auth::Role> role,
                       const std::optional<std::string>& address) {
  const std::string reached = address ? *address : AddressOf(site);
  const std::string_view page = role ? auth::RowOf(*role).page : std::string_view();
  if (!page.empty()) return Concat({"https://", reached, page, "#c="});
  return "comanda://pair?h=" + Escaped(reached) + "&n=" + Escaped(ops::LocalName()) +
         PinPart(site.options) + "&c=";
}

}  // namespace comanda::app
