#pragma once

// The certificate with which a receiver answers, for the operator who pins its public key
// (contract section 13, Receivers).

#include <string>

#include "crypto/certificate.h"
#include "net/network.h"
#include "webhooks/address_rules.h"

namespace comanda::webhooks {

// Who answered.
struct Answering {
  std::string address;
  std::string tls_version;
  crypto::CertificateInfo certificate;
};
// Connects with TLS and sends nothing. Nothing of the certificate is verified: it may be of
// somebody else on the way. Refusal(kValidationFailed) for a URL that a webhook cannot have, for
// plain http, for an address that is never called, and where no certificate came within 10 s.
// Blocks until then.
Answering Look(net::Network& network, const Networks& networks, const std::string& url);

}  // namespace comanda::webhooks
