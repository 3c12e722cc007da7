#pragma once

// The box's own authority and server certificate in DIR/tls, made at the first start, renewed in
// time, whenever the clock leaves its bounds (certificate_rule.h), and whenever the machine has a
// name or address that the certificate does not carry; or the owner's own certificate, where the
// settings name one, which is never replaced.
//
// ca.trust beside them says "unused" and the fingerprint of an authority that no device can have
// trusted yet, else "used". Where it is missing, devices trust the authority.

#include <atomic>
#include <mutex>
#include <set>
#include <string>

#include "base/clock.h"
#include "config/options.h"
#include "crypto/certificate.h"
#include "wire/tls.h"
#include "ops/certificate_rule.h"

namespace comanda::ops {

// What the machine answers to: its host name (also with .local), localhost, comanda.local, the
// addresses of its interfaces, and the further names of the settings. Lower case.
struct Names {
  std::set<std::string> dns;
  std::set<std::string> addresses;

  bool Allows(std::string_view host) const;  // a Host header's name, without port
};
Names MachineNames(const config::Options& options);

// The pair to serve. Refusal where the owner's files cannot be used, Fault where nothing is left to
// serve, both with what to do.
struct Served {
  crypto::KeyPair pair;
  bool renewed = false;  // it is another than last time
  bool unused = false;   // no device can have trusted the authority yet
  std::string trouble;   // what a person has to do something about; empty: nothing
};
Served CurrentCertificate(const config::Options& options, const Names& names,
                          const CertificateTimes& times);

// A new authority takes the place of the one in DIR/tls, for `comanda tls renew-authority`: the
// server makes its certificate of it the next time it looks.
crypto::KeyPair RenewAuthority(const config::Options& options, const CertificateTimes& times);

// DIR/tls/ca.crt
std::string AuthorityPath(const config::Options& options);

// The certificate that is served, kept valid.
class Certificates {
 public:
  // As CurrentCertificate. The clock outlives it.
  Certificates(const config::Options& options, const Names& names, const Clock& clock);

  // At start, on a reload, once a minute and when the clock was stepped: makes again what has to
  // be, and logs what changed. The thread that made it.
  void Look(const config::Options& options, const Names& names, wire::Tls& tls);
  // The settings may have changed: throws as CurrentCertificate, and the old pair stays in use.
  void Reload(const config::Options& options, const Names& names, wire::Tls& tls);
  const crypto::KeyPair& pair() const { return served_.pair; }  // the thread that made it

  // A request with a valid key came: from now on a device can have trusted the authority. Written
  // down before it returns, the first time. Any thread; throws nothing.
  void DeviceCame() noexcept;
  // For /readyz: empty where nothing is wrong. Any thread.
  std::string trouble() const;

 private:
  CertificateTimes Times() const;
  void Adopt(Served served);

  const Clock& clock_;
  Served served_;
  std::atomic<bool> unused_{false};
  std::atomic<int64_t> note_again_at_ms_{0};
  mutable std::mutex mutex_;  // guards the files of the authority, trouble_ and directory_
  std::string trouble_;
  std::string directory_;
};

}  // namespace comanda::ops
