#pragma once

// The box's own certificate authority and server certificate (P-256, ECDSA with SHA-256; RFC 5280).

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace comanda::crypto {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

// Both ends included.
struct Validity {
  UtcMs not_before = 0;
  UtcMs not_after = 0;

  bool Holds(UtcMs now) const { return not_before <= now && now <= not_after; }
  bool operator==(const Validity&) const = default;
};
// Ten years, or 397 days for a server (some devices accept no more), from a day before now: the
// clock of a device may be a little behind.
Validity AuthorityFrom(UtcMs now);
Validity ServerFrom(UtcMs now);

struct CertificateInfo {
  std::string subject;
  std::string fingerprint_sha256;  // "AB:CD:...", of the DER form, as browsers show it
  Validity validity;
  std::vector<std::string> dns_names;
  std::vector<std::string> addresses;  // numeric, IPv4 and IPv6
};

// Self-signed, CA:TRUE pathlen 0, keyCertSign and cRLSign.
KeyPair MakeAuthority(std::string_view common_name, const Validity& validity);

// A leaf signed by the authority with names and addresses as subjectAltName, serverAuth. Its chain
// (leaf, then authority) is in certificate_pem. Refusal (kValidationFailed) where the authority
// cannot be read, where an address is not numeric or where there is neither a name nor an address.
KeyPair MakeServerCertificate(const KeyPair& authority, std::string_view common_name,
                              const std::vector<std::string>& dns_names,
                              const std::vector<std::string>& addresses, const Validity& validity);

// Reads the first certificate of a PEM file. Refusal (kValidationFailed) where it cannot be read.
CertificateInfo Inspect(std::string_view certificate_pem);

// The second certificate of a PEM file, as it stands there: the authority behind a server
// certificate. Empty where there is none.
std::string SecondOf(std::string_view chain_pem);

// Empty where the private key belongs to the certificate, else what is wrong.
std::string Mismatch(std::string_view certificate_pem, std::string_view key_pem);

}  // namespace comanda::crypto
