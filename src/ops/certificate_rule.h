#pragma once

// Decides whether the box's authority and its server certificate are kept or made again (contract
// section 1, Timestamps). Pure: a function of dates, so that a simulation of clocks can call it;
// ops/certificates.h carries out the decision.
//
// The authority is the certificate that devices install. It signs the server certificate, which the
// box presents in TLS. A server certificate that is not valid by the wall clock, in either
// direction, is made again immediately. An authority is replaced only while no device can have
// installed it. A wall clock before the program's build date is wrong: then the settled clock
// (base/time/settled_clock.h) is used, and no certificate is dated before the build.

#include <cstdint>
#include <optional>

#include "base/time/clock.h"
#include "crypto/certificate.h"

namespace comanda::ops {

struct CertificateTimes {
  UtcMs wall = 0;
  // Ignores a step of the wall clock until the step is confirmed (Clock::RetentionNow).
  UtcMs settled = 0;
  UtcMs built = 0;  // the program's build date
};

// The state of DIR/tls.
struct CertificateFacts {
  // Nothing: no readable authority certificate.
  std::optional<crypto::Validity> authority;
  bool can_sign = false;  // the authority's key is present and matches its certificate
  // A device may have installed the authority: a request with a valid API key came since the
  // authority was made.
  bool trusted = false;
  // Nothing: no readable server certificate with a matching key.
  std::optional<crypto::Validity> server;
  // The server certificate is signed by this authority and names all names of the machine.
  bool fits = false;
};

enum class CertificateAction : uint8_t {
  kKeep,
  kRemakeServer,
  kRemakeAuthority,  // also makes a new server certificate
  kNothingToServe,   // no server certificate, and the trusted authority has lost its key
};

// A state that only a person can change: shown in /readyz and logged.
enum class CertificateTrouble : uint8_t {
  kNone,
  kAuthorityNotYetValid,
  kAuthorityEnded,
  kAuthorityEndsSoon,  // within a year
  kCannotSign,         // the authority's key is missing: certificates cannot be renewed
  kServerNotYetValid,  // this and the next: and the authority cannot sign another
  kServerEnded,
};

struct CertificateDecision {
  CertificateAction action = CertificateAction::kKeep;
  CertificateTrouble trouble = CertificateTrouble::kNone;  // what remains after the action
  // The dates of the certificates to make.
  crypto::Validity server;
  crypto::Validity authority;
};

CertificateDecision DecideCertificates(const CertificateFacts& facts,
                                       const CertificateTimes& times);

// The current time for certificates: the wall clock's, or the settled clock's where the wall clock
// is wrong; never before the build date.
UtcMs CertificateNow(const CertificateTimes& times);
// The dates of an authority made now. It is valid from the build date on, so that an authority made
// while the clock was ahead is valid when the clock is corrected.
crypto::Validity NewAuthority(const CertificateTimes& times);
// Whether a certificate that the owner configured is valid now. It is never replaced.
CertificateTrouble JudgeOwners(const crypto::Validity& server, const CertificateTimes& times);

}  // namespace comanda::ops
