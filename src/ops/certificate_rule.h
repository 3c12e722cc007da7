#pragma once

// What becomes of the box's authority and server certificate (contract section 1, Timestamps): a
// pure function of dates, so that a simulation of clocks can call it. certificates.h does what it
// decides.
//
// The server certificate follows the wall clock and both bounds: one that is not valid now is made
// again at once. An authority is what devices have installed: it is replaced only while no device
// can have trusted it. A clock before the program's build date is wrong; then the settled clock is
// asked, and nothing is dated before the build.

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "crypto/certificate.h"

namespace comanda::ops {

struct CertificateTimes {
  UtcMs wall = 0;
  // Not carried away by a step of the clock until it has stood (Clock::RetentionNow).
  UtcMs settled = 0;
  UtcMs built = 0;
};

// What lies in DIR/tls.
struct CertificateFacts {
  // Empty: no certificate that can be read.
  std::optional<crypto::Validity> authority;
  bool can_sign = false;  // the authority's key is there and belongs to it
  // A device can have trusted the authority: a request with a valid key came since it was made.
  bool trusted = false;
  // Empty: none with its key.
  std::optional<crypto::Validity> server;
  // The server certificate is of this authority and carries every name of the machine.
  bool fits = false;
};

enum class CertificateAction : uint8_t {
  kKeep,
  kRemakeServer,
  kRemakeAuthority,  // and with it the server certificate
  kNothingToServe,   // the authority that devices trust cannot sign, and no certificate is left
};

// What a person has to do something about.
enum class CertificateTrouble : uint8_t {
  kNone,
  kAuthorityNotYetValid,
  kAuthorityEnded,
  kAuthorityEndsSoon,  // within a year
  kCannotSign,         // certificates cannot be renewed
  kServerNotYetValid,  // and cannot be made again
  kServerEnded,
};

struct CertificateDecision {
  CertificateAction action = CertificateAction::kKeep;
  CertificateTrouble trouble = CertificateTrouble::kNone;  // after the action
  // The dates of what is made.
  crypto::Validity server;
  crypto::Validity authority;
};

CertificateDecision DecideCertificates(const CertificateFacts& facts,
                                       const CertificateTimes& times);

// The time that certificates are judged and dated by: never before the build date.
UtcMs CertificateNow(const CertificateTimes& times);
// The dates of an authority made now. It is valid from the build date on, so that one made by a
// clock that was ahead is valid when the clock is right again.
crypto::Validity NewAuthority(const CertificateTimes& times);
// What is wrong with the bounds of a certificate of the owner, which is never replaced.
CertificateTrouble JudgeOwners(const crypto::Validity& server, const CertificateTimes& times);

}  // namespace comanda::ops
