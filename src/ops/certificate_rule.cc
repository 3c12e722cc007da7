#include "ops/certificate_rule.h"

#include <algorithm>

namespace comanda::ops {
namespace {

using enum CertificateAction;
using enum CertificateTrouble;
using crypto::Validity;

constexpr UtcMs kDayMs = 24 * 60 * 60 * 1000;
// A third of its life. A box that was switched off for longer makes another at its start.
constexpr UtcMs kRenewBeforeMs = 30 * kDayMs;
// Replacing the authority takes time: the new one must be installed on every device.
constexpr UtcMs kAuthorityWarnBeforeMs = 365 * kDayMs;

bool EndsSoon(const Validity& validity, UtcMs now, UtcMs before_ms) {
  return validity.not_after <= now + before_ms;
}

// The dates of a new server certificate. They follow the settled clock if the certificate is then
// also valid for 30 days by the wall clock: devices accept it whichever of the two clocks is right.
// It does not outlive the authority, unless the authority is not valid now: some clients ignore the
// dates of an authority that they trust.
Validity NewServer(const Validity& authority, const CertificateTimes& times) {
  const UtcMs now = CertificateNow(times);
  Validity server = crypto::ServerFrom(std::max(times.settled, times.built));
  if (!server.Holds(now) || EndsSoon(server, now, kRenewBeforeMs)) server = crypto::ServerFrom(now);
  if (authority.Holds(now)) server.not_after = std::min(server.not_after, authority.not_after);
  return server;
}

// True if the server certificate need not be made again. A step of the wall clock that is not
// confirmed yet does not trigger an early renewal.
bool IsGood(const CertificateFacts& facts, const CertificateTimes& times) {
  if (!facts.server || !facts.fits) return false;
  const UtcMs now = CertificateNow(times);
  if (!facts.server->Holds(now)) return false;
  const UtcMs earliest = std::min(now, times.settled);
  // A new certificate would not last longer if the authority ends at the same time.
  const bool can_last_longer =
      facts.authority->not_after > facts.server->not_after || !facts.authority->Holds(now);
  return !can_last_longer || !EndsSoon(*facts.server, earliest, kRenewBeforeMs);
}

CertificateTrouble JudgeAuthority(const Validity& authority, UtcMs now) {
  if (now < authority.not_before) return kAuthorityNotYetValid;
  if (now > authority.not_after) return kAuthorityEnded;
  return EndsSoon(authority, now, kAuthorityWarnBeforeMs) ? kAuthorityEndsSoon : kNone;
}

CertificateDecision DecideWithoutKey(const CertificateFacts& facts, const CertificateTimes& times) {
  if (!facts.server) return {.action = kNothingToServe, .trouble = kCannotSign};
  const CertificateTrouble server = JudgeOwners(*facts.server, times);
  return {.action = kKeep, .trouble = server == kNone ? kCannotSign : server};
}

}  // namespace

UtcMs CertificateNow(const CertificateTimes& times) {
  return times.wall >= times.built ? times.wall : std::max(times.settled, times.built);
}

Validity NewAuthority(const CertificateTimes& times) {
  Validity validity = crypto::AuthorityFrom(CertificateNow(times));
  validity.not_before = crypto::AuthorityFrom(times.built).not_before;
  return validity;
}

CertificateTrouble JudgeOwners(const Validity& server, const CertificateTimes& times) {
  const UtcMs now = CertificateNow(times);
  if (now < server.not_before) return kServerNotYetValid;
  return now > server.not_after ? kServerEnded : kNone;
}

CertificateDecision DecideCertificates(const CertificateFacts& facts,
                                       const CertificateTimes& times) {
  const UtcMs now = CertificateNow(times);
  const bool can_sign = facts.authority && facts.can_sign;
  const CertificateTrouble trouble =
      facts.authority ? JudgeAuthority(*facts.authority, now) : kNone;
  if (!facts.trusted && (!can_sign || trouble != kNone)) {
    const Validity authority = NewAuthority(times);
    return {
        .action = kRemakeAuthority, .server = NewServer(authority, times), .authority = authority};
  }
  if (!can_sign) return DecideWithoutKey(facts, times);
  if (IsGood(facts, times)) return {.action = kKeep, .trouble = trouble};
  return {
      .action = kRemakeServer, .trouble = trouble, .server = NewServer(*facts.authority, times)};
}

}  // namespace comanda::ops
