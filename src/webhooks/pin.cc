#include "webhooks/pin.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/problem.h"
#include "net/international_name.h"

namespace comanda::webhooks {
namespace {

constexpr int64_t kConnectTimeoutMs = 10'000;

Refusal Wrong(const std::string& url, const std::string& what) {
  return Refusal(Problem::kValidationFailed, url + " " + what);
}

std::string LeadsTo(const std::string& shown, const std::string& why) {
  return "leads to " + shown + ", which " + why +
         "; the owner can allow networks with the setting webhook_networks";
}

Target ReadTarget(const std::string& url, const Networks& networks) {
  const ParsedUrl parsed = ParseUrl(url);
  if (!parsed.target) throw Wrong(url, parsed.wrong);
  if (!parsed.target->is_https) throw Wrong(url, "has no certificate: it begins with http://");
  if (!parsed.target->literal) return *parsed.target;
  if (const auto why = WhyRefused(networks, *parsed.target->literal, true)) {
    throw Wrong(url, LeadsTo(parsed.target->host, *why));
  }
  return *parsed.target;
}

}  // namespace

Answering Look(net::Network& network, const Networks& networks, const std::string& written) {
  const std::string url = net::WithAsciiHost(written);
  const Target target = ReadTarget(url, networks);
  net::Call call;
  call.purpose = net::Purpose::kWebhooks;
  call.url = url;
  call.is_handshake_only = true;
  call.connect_timeout_ms = call.timeout_ms = kConnectTimeoutMs;
  call.allows_address = [&networks](std::string_view address) {
    return !WhyRefused(networks, address, true);
  };
  const net::Answer answer = network.Send(std::move(call));
  if (answer.outcome == net::Outcome::kAddressRefused) {
    const std::string why = WhyRefused(networks, answer.address, true).value_or("is not allowed");
    throw Wrong(url, LeadsTo(target.host + " (" + answer.address + ")", why));
  }
  if (answer.outcome != net::Outcome::kAnswered) {
    throw Wrong(url,
                "gave no certificate: " + std::string(Name(answer.outcome)) + ", " + answer.error);
  }
  if (!answer.security.certificate || answer.security.certificate->public_key_pin.empty()) {
    throw Wrong(url, "answers with a certificate that cannot be read");
  }
  return {.address = answer.address,
          .tls_version = answer.security.tls_version,
          .certificate = *answer.security.certificate};
}

}  // namespace comanda::webhooks
