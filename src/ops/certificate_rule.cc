#include "ops/certificate_rule.h"

#include <algorithm>

namespace comanda::ops {
namespace {

using enum CertificateAction;
using enum CertificateTrouble;
using crypto::Validity;

constexpr UtcMs kDayMs = 24 * 60 * 60 * 1000;
// Long before the end, so that a box that is off for a month still has a good one.
constexpr UtcMs kRenewBeforeMs = 60 * kDayMs;
// Somebody has to go to every device.
constexpr UtcMs kAuthorityWarnBeforeMs = 365 * kDayMs;

bool EndsSoon(const Validity& validity, UtcMs now, UtcMs before_ms) {
  return validity.not_after <= now + before_ms;
}

// Dated by the settled clock where that still leaves the certificate valid for long by the wall
// clock: whichever of both is right, devices accept it. It ends with the authority at the latest,
// unless that is not valid now: some clients do not look at the dates of an authority they trust.
Validity NewServer(const Validity& authority, const CertificateTimes& times) {
  const UtcMs now = CertificateNow(times);
  Validity server = crypto::ServerFrom(std::max(times.settled, times.built));
  if (!server.Holds(now) || EndsSoon(server, now, kRenewBeforeMs)) server = crypto::ServerFrom(now);
  if (authority.Holds(now)) server.not_after = std::min(server.not_after, authority.not_after);
  return server;
}

// A jump of the clock alone does not bring the end near: that waits until the clock has settled.
bool IsGood(const CertificateFacts& facts, const CertificateTimes& times) {
  if (!facts.server || !facts.fits) return false;
  const UtcMs now = CertificateNow(times);
  if (!facts.server->Holds(now)) return false;
  const UtcMs earliest = std::min(now, times.settled);
  // Of an authority that ends, none lasts longer.
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
