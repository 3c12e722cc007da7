#include "app/setup_port.h"

#include <utility>

#include "app/trust_pages.h"
#include "base/problem.h"
#include "base/text.h"
#include "wire/problem.h"

namespace comanda::app {
namespace {

constexpr int kWorkers = 6;  // a browser opens six connections
constexpr wire::Timeouts kTimeouts = {
    .handshake_ms = 1'000, .head_ms = 3'000, .body_ms = 1'000, .idle_ms = 1'000, .write_ms = 3'000};

// The host in a Host header: "caja.local:80", "[::1]:80".
std::string HostName(std::string_view header) {
  if (header.starts_with('[')) return AsciiLower(header.substr(1, header.find(']') - 1));
  return AsciiLower(header.substr(0, header.find(':')));
}

wire::Response Answer(const wire::Request& request, const std::string& address,
                      const AuthorityPem& authority_pem) {
  if (request.method == wire::Method::kGet || request.method == wire::Method::kHead) {
    if (request.path == "/setup") {
      return SetupPageAnswer(authority_pem(), address, request.Joined("Accept-Language"));
    }
    if (request.path == "/ca.crt") return AuthorityAnswer(authority_pem());
    if (request.path == "/ca.mobileconfig") return AppleProfileAnswer(authority_pem());
  }
  throw Refusal(Problem::kHttpsRequired,
                "Plain HTTP is not served: a key would be readable for everybody on the way. Use " +
                    address + ". How a device learns to trust it: /setup.");
}

}  // namespace

wire::Handler SetupHandler(HttpsAddress address, AuthorityPem authority_pem,
                           std::string errors_base) {
  return [address = std::move(address), authority_pem = std::move(authority_pem),
          errors_base = std::move(errors_base)](wire::Exchange& exchange) {
    const wire::Request& request = exchange.request;
    try {
      exchange.response =
          Answer(request, address(HostName(request.Header("Host").value_or(""))), authority_pem);
    } catch (Refusal& refusal) {
      exchange.response =
          wire::ProblemResponse(refusal, errors_base, request.path, request.request_id);
    }
    exchange.response.close_connection = true;
  };
}

wire::ServerSettings SetupSettings() {
  return {.workers = kWorkers,
          .takes_keys = false,
          .waits_for_first_byte = true,
          .tls = false,
          .name = "setup",
          .timeouts = kTimeouts};
}

}  // namespace comanda::app
