#pragma once

// Creates and reads X.509 certificates (RFC 5280): the box's own certificate authority and its
// server certificate, both P-256 with ECDSA and SHA-256. Any thread. Creating keys takes
// milliseconds of CPU.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"

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
// The validity of new certificates: ten years for an authority that issues, 90 days for a server
// certificate. It starts a day before `now`, because the clock of a device may be slow.
Validity AuthorityFrom(UtcMs now);
Validity ServerFrom(UtcMs now);
// That of the root above an authority, which lasts ten years longer.
Validity RootOf(const Validity& authority);

// Name constraints (RFC 5280 section 4.2.1.10): what an authority may issue certificates for.
struct Permitted {
  // Each with all names below it: "local" permits "caja.local".
  std::vector<std::string> dns_names;
  // CIDR blocks, base/address.h.
  std::vector<std::string> ranges;

  bool AllowsName(std::string_view dns_name) const;
  bool AllowsAddress(std::string_view address) const;
};

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
  // Of an authority: its name constraints; nothing if it has none.
  std::optional<Permitted> permitted;
};

// A new authority: the root that devices install, and the authority below it that issues server
// certificates. The key of the root exists during MakeAuthority() alone: whoever steals the issuing
// key can pretend to be nothing but what `permitted` names, and a device that trusts the root
// trusts no further authority. The constraints are not critical: Java and old devices refuse
// certificates with critical extensions that they do not know.
struct Authority {
  std::string root_pem;  // CA:TRUE, pathlen 1
  KeyPair issuing;       // CA:TRUE, pathlen 0, name constraints
};
Authority MakeAuthority(std::string_view common_name, const Validity& issuing,
                        const Permitted& permitted);

// A serverAuth certificate signed by `authority`, with names and addresses as subjectAltName. The
// authority's certificate may be followed by those above it. certificate_pem holds the chain: leaf,
// then all of them. Throws Refusal(kValidationFailed) if the
// authority cannot be parsed, an address is not numeric, or there is neither a name nor an address.
KeyPair MakeServerCertificate(const KeyPair& authority, std::string_view common_name,
                              const std::vector<std::string>& dns_names,
                              const std::vector<std::string>& addresses, const Validity& validity);

// Describes the first certificate of a PEM file. Throws Refusal(kValidationFailed) if it cannot be
// parsed.
CertificateInfo Inspect(std::string_view certificate_pem);

// The certificates of a chain, each as its PEM text. Does not parse them.
std::vector<std::string> SplitChain(std::string_view chain_pem);

// The DER form of a certificate in base64. Refusal if it cannot be read.
std::string DerBase64(std::string_view certificate_pem);

// Whether the first certificate is signed by the second one, whatever their dates. False if one
// cannot be read.
bool IsSignedBy(std::string_view certificate_pem, std::string_view authority_pem);

// Empty if the private key belongs to the certificate, else a sentence that says what is wrong.
std::string Mismatch(std::string_view certificate_pem, std::string_view key_pem);

}  // namespace comanda::crypto
