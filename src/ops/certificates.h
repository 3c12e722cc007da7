#pragma once

// The box's own authority and server certificate in DIR/tls, made at the first start, renewed in
// time and whenever the machine has a name or address that the certificate does not carry; or the
// owner's own certificate, where the settings name one.

#include <set>
#include <string>

#include "base/clock.h"
#include "config/options.h"
#include "crypto/certificate.h"

namespace comanda::ops {

// What the machine answers to: its host name (also with .local), localhost, comanda.local, the
// addresses of its interfaces, and the further names of the settings. Lower case.
struct Names {
  std::set<std::string> dns;
  std::set<std::string> addresses;

  bool Allows(std::string_view host) const;  // a Host header's name, without port
};
Names MachineNames(const config::Options& options);

// The pair to serve, and whether it is another than last time. Refusal where the owner's files
// cannot be used, with what to do.
struct Served {
  crypto::KeyPair pair;
  bool renewed = false;
};
Served CurrentCertificate(const config::Options& options, const Names& names, UtcMs now);

// DIR/tls/ca.crt
std::string AuthorityPath(const config::Options& options);

}  // namespace comanda::ops
