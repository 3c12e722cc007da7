#include "webhooks/signature.h"

#include <array>

#include "base/random.h"
#include "crypto/hash.h"

namespace comanda::webhooks {
namespace {

constexpr std::string_view kPrefix = "whsec_";

std::string StandardSignature(std::string_view secret, std::string_view signed_text) {
  const std::string key = crypto::FromBase64(secret.substr(kPrefix.size()));
  return "v1," + crypto::Base64(crypto::HmacSha256(key, signed_text));
}

// Keyed with the text of the secret as it was given.
std::string OwnSignature(std::string_view secret, std::string_view body) {
  const crypto::Sha256Digest digest = crypto::HmacSha256(secret, body);
  return "sha256=" + crypto::Hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace

std::string MakeSecret() {
  std::array<uint8_t, 32> bytes{};
  FillRandom(bytes);
  return std::string(kPrefix) + crypto::Base64(bytes);
}

std::vector<std::string> Sign(const Secrets& secrets, std::string_view message_id, UtcMs at,
                              std::string_view body, std::string_view own_header) {
  const std::string id(message_id);
  const std::string seconds = std::to_string(at / 1000);
  std::string signed_text = id + "." + seconds + ".";
  signed_text += body;
  std::string standard = StandardSignature(secrets.current, signed_text);
  if (secrets.old) standard += " " + StandardSignature(*secrets.old, signed_text);
  const std::string own(own_header);
  std::vector<std::string> headers = {
      "webhook-id: " + id, "webhook-timestamp: " + seconds, "webhook-signature: " + standard,
      own + ": " + OwnSignature(secrets.old.value_or(secrets.current), body)};
  if (secrets.old) headers.push_back(own + "-New: " + OwnSignature(secrets.current, body));
  return headers;
}

}  // namespace comanda::webhooks
