#pragma once

// The certificate that the box presents in TLS. Either the box makes it: its own authority and
// server certificate are files in DIR/tls, made at the first start. ca.crt is the root, which
// devices install; its key is destroyed as soon as it has signed issuing.crt, an authority with
// name constraints, whose key is ca.key. Of an older program, ca.crt is the one that signs. The
// server certificate is followed by all of them, so that a device can find the root by its pin, and
// is renewed when it is due (ops/certificate_rule.h) and when the machine has a name or address
// that it does not contain. Or the settings name a certificate of the owner, which is never
// replaced.
//
// DIR/tls/ca.trust records whether a device may have installed the authority: "unused" and the
// authority's fingerprint while none can have, else "used". A missing file means "used".

#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/time/clock.h"
#include "config/options.h"
#include "crypto/certificate.h"
#include "wire/tls.h"
#include "ops/certificate_rule.h"

namespace comanda::ops {

// The names of the machine: its host name, also as devices see it (ops/local_name.h); localhost;
// comanda.local; the addresses of its interfaces; the setting `hosts`; what the owner's
// certificate names. In lower case.
struct Names {
  std::set<std::string> dns;
  std::set<std::string> addresses;

  // The name in a Host header, without the port. "*.example.pe" allows one label before the dot.
  bool Allows(std::string_view host) const;
  bool operator==(const Names&) const = default;
};
// Reads the interfaces and the owner's certificate. Throws nothing but std::bad_alloc.
Names MachineNames(const config::Options& options);

// Those of its interfaces alone, loopback included. Throws nothing but std::bad_alloc.
std::set<std::string> MachineAddresses();

// The certificate and key to present. Makes or renews them if they are due, which blocks on the
// disk; on one that is read-only, what there is is presented. Throws Refusal if the owner's files
// cannot be used, Fault if there is no certificate to present or DIR/tls cannot be written; both
// messages say what to do.
struct ServedCertificate {
  crypto::KeyPair pair;
  bool renewed = false;  // the server certificate was made by this call
  bool unused = false;   // no device can have installed the authority yet
  std::string root_pem;  // what devices install; empty for the owner's certificate
  std::string trouble;   // CertificateTrouble in words, with what to do; empty: none
};
ServedCertificate CurrentCertificate(const config::Options& options, const Names& names,
                                     const CertificateTimes& times);

// The address under which devices of the LAN reach this machine: that of the default route, else
// any that is neither loopback nor link-local; empty if there is none. IPv4 is preferred.
std::string LanAddress();

// The certificates as they are, for `comanda doctor`. Changes nothing; throws as
// CurrentCertificate, also where the authority would be lost.
struct CertificateReport {
  std::optional<crypto::Validity> server;     // nothing: there is none yet, or it is unreadable
  std::optional<crypto::Validity> authority;  // nothing also for the owner's certificate
  // The server makes a certificate, or makes it again, when it looks next: within a minute, or at
  // its start.
  bool will_be_made = false;
  std::string trouble;  // as in ServedCertificate
  // Names and addresses of the machine that the certificate may not have, because the authority is
  // constrained; with blanks.
  std::string left_out;
};
CertificateReport InspectCertificate(const config::Options& options, const Names& names,
                                     const CertificateTimes& times);

// Replaces the authority in DIR/tls, for `comanda tls renew-authority`, and returns the certificate
// of the new root. A running server signs a new certificate with it at its next Look(). Fault if
// the directory cannot be written.
std::string RenewAuthority(const config::Options& options, const CertificateTimes& times);

// The SHA-256 of the public key of the authority that devices trust, in base64url without padding
// (RFC 4648 section 5), as the QR code of `comanda pair` has it. Nothing if there is no authority
// yet, or the settings name a certificate of the owner: devices then trust that one's issuer.
std::optional<std::string> AuthorityPin(const config::Options& options);
std::string UrlPin(const crypto::CertificateInfo& authority);

// DIR/tls/ca.crt
std::string AuthorityPath(const config::Options& options);

// Keeps the presented certificate valid while the server runs. Belongs to the thread that made it,
// except for the methods that say otherwise.
class Certificates {
 public:
  // Throws as CurrentCertificate. The clock must outlive the object.
  Certificates(const config::Options& options, const Names& names, const Clock& clock);

  // Renews what is due, hands a new certificate to `tls`, and logs changes. Called once a minute
  // and after a step of the clock. Throws as CurrentCertificate.
  void Look(const config::Options& options, const Names& names, wire::Tls& tls);
  // Like Look(), with new settings. If it throws, the old certificate stays in use.
  void Reload(const config::Options& options, const Names& names, wire::Tls& tls);
  const crypto::KeyPair& pair() const { return served_.pair; }

  // Records in ca.trust that a device may have installed the authority; for the first request with
  // a valid API key. The first call blocks until the file is on disk; later calls return
  // immediately. Any thread.
  void RecordTrust() noexcept;
  // Whether devices may have installed the authority in DIR/tls. Any thread.
  bool trusted() const { return !unused_; }
  // The root that devices install; empty where the owner's certificate is served. Any thread.
  std::string authority_pem() const;
  // Whether somebody has put another certificate into DIR/tls than the one that is served, as the
  // last Look() has found it. Any thread.
  bool is_newer_on_disk() const;
  // For /readyz; empty if nothing is wrong. Any thread.
  std::string trouble() const;

 private:
  CertificateTimes Times() const;
  // The caller holds mutex_.
  ServedCertificate CurrentOrNote(const config::Options& options, const Names& names);
  void Adopt(ServedCertificate served);

  const Clock& clock_;
  ServedCertificate served_;
  std::atomic<bool> unused_{false};
  std::atomic<int64_t> record_again_at_ms_{0};  // after a failure; monotonic clock
  mutable std::mutex mutex_;  // guards the files of the authority, and what follows
  std::string trouble_;
  bool is_newer_on_disk_ = false;
  std::string authority_pem_;
  std::string directory_;
};

}  // namespace comanda::ops
