#pragma once

// Creates and reads X.509 certificates (RFC 5280): the box's own certificate authority and its
// server certificate, both P-256 with ECDSA and SHA-256. Any thread. Creating keys takes
// milliseconds of CPU.

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace comanda::crypto {

// A certificate, possibly followed by its chain, and its private key.
struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

// The period in which a certificate is valid, both ends included.
struct Validity {
  UtcMs not_before = 0;
  UtcMs not_after = 0;

  bool Holds(UtcMs now) const { return not_before <= now && now <= not_after; }
  bool operator==(const Validity&) const = default;
};
// The validity of new certificates: ten years for an authority, 397 days for a server certificate
// (some devices refuse longer ones). It starts a day before `now`, because the clock of a device
// may be slow.
Validity AuthorityFrom(UtcMs now);
Validity ServerFrom(UtcMs now);

struct CertificateInfo {
  std::string subject;
  std::string issuer;
  // The SHA-256 of its public key as calls pin it (net/call.h), "sha256//" and base64; empty where
  // the key is of an unknown kind.
  std::string public_key_pin;
  // SHA-256 of the DER form as browsers show it: "AB:CD:...".
  std::string fingerprint_sha256;
  Validity validity;
  std::vector<std::string> dns_names;
  // Numeric IPv4 and IPv6 addresses.
  std::vector<std::string> addresses;
};

// A self-signed authority: CA:TRUE, pathlen 0, keyCertSign and cRLSign.
KeyPair MakeAuthority(std::string_view common_name, const Validity& validity);

// A serverAuth certificate signed by `authority`, with names and addresses as subjectAltName.
// certificate_pem holds the chain: leaf, then authority. Throws Refusal(kValidationFailed) if the
// authority cannot be parsed, an address is not numeric, or there is neither a name nor an address.
KeyPair MakeServerCertificate(const KeyPair& authority, std::string_view common_name,
                              const std::vector<std::string>& dns_names,
                              const std::vector<std::string>& addresses, const Validity& validity);

// Describes the first certificate of a PEM file. Throws Refusal(kValidationFailed) if it cannot be
// parsed.
CertificateInfo Inspect(std::string_view certificate_pem);

// The PEM text of the second certificate of a chain: the authority behind a server certificate.
// Empty if there is none. Does not parse it.
std::string SecondOf(std::string_view chain_pem);

// Empty if the private key belongs to the certificate, else a sentence that says what is wrong.
std::string Mismatch(std::string_view certificate_pem, std::string_view key_pem);

}  // namespace comanda::crypto
