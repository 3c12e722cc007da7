#include "ops/certificate_rule.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace comanda::ops {
namespace {

using enum CertificateAction;
using enum CertificateTrouble;
using crypto::AuthorityFrom;
using crypto::ServerFrom;
using crypto::Validity;

constexpr UtcMs kDayMs = 86'400'000;
const UtcMs kBuilt = ParseInstant("2026-11-01T00:00:00Z").value();
const UtcMs kNow = kBuilt + 100 * kDayMs;

UtcMs Days(int64_t days) { return kNow + days * kDayMs; }

CertificateTimes At(int64_t days) { return {Days(days), Days(days), kBuilt}; }
// The wall clock was stepped: the settled one does not follow yet.
CertificateTimes Stepped(int64_t wall_days, int64_t settled_days) {
  return {Days(wall_days), Days(settled_days), kBuilt};
}

CertificateFacts Usual() {
  return {.authority = Validity{kBuilt - kDayMs, Days(3650)},
          .can_sign = true,
          .trusted = true,
          .server = ServerFrom(kNow),
          .fits = true};
}

struct Row {
  std::string what;
  CertificateFacts facts;
  CertificateTimes times;
  CertificateAction action;
  CertificateTrouble trouble;
};

CertificateFacts With(void (*change)(CertificateFacts&)) {
  CertificateFacts facts = Usual();
  change(facts);
  return facts;
}

std::vector<Row> ServerRows() {
  const CertificateFacts usual = Usual();
  const CertificateFacts ahead =
      With([](CertificateFacts& f) { f.server = ServerFrom(Days(400)); });
  const CertificateFacts behind =
      With([](CertificateFacts& f) { f.server = ServerFrom(Days(-700)); });
  return {
      {"all is well", usual, At(0), kKeep, kNone},
      {"it is to be renewed in time", usual, At(58), kKeep, kNone},
      {"it ends within 30 days", usual, At(60), kRemakeServer, kNone},
      {"a jump alone does not bring its end near", usual, Stepped(70, 0), kKeep, kNone},
      {"it has ended by the wall clock", usual, At(90), kRemakeServer, kNone},
      {"it has ended by the wall clock alone", usual, Stepped(500, 0), kRemakeServer, kNone},
      {"it is not yet valid by the wall clock", usual, Stepped(-2, 0), kRemakeServer, kNone},
      {"the clock is a little behind", usual, Stepped(0, 1), kKeep, kNone},
      {"it was made by a clock 400 days ahead", ahead, At(0), kRemakeServer, kNone},
      {"the same, and the clock that is right is not believed yet", ahead, Stepped(0, 400),
       kRemakeServer, kNone},
      {"it was made by a clock 700 days behind", behind, At(0), kRemakeServer, kNone},
      {"the same, and the clock that is right is not believed yet", behind, Stepped(0, -700),
       kRemakeServer, kNone},
      {"a name is missing", With([](CertificateFacts& f) { f.fits = false; }), At(0), kRemakeServer,
       kNone},
      {"there is none", With([](CertificateFacts& f) { f.server.reset(); }), At(0), kRemakeServer,
       kNone},
      {"the clock shows 1970, and the last event was now", usual, {0, kNow, kBuilt}, kKeep, kNone},
      {"the clock shows 1970, and nothing else is known",
       usual,
       {0, 0, kBuilt},
       kRemakeServer,
       kNone},
  };
}

std::vector<Row> AuthorityRows() {
  const CertificateFacts usual = Usual();
  const CertificateFacts unused = With([](CertificateFacts& f) { f.trusted = false; });
  const CertificateFacts ahead = With([](CertificateFacts& f) {
    f.authority = AuthorityFrom(Days(400));
    f.server = ServerFrom(Days(400));
  });
  const CertificateFacts unused_ahead = With([](CertificateFacts& f) {
    f.authority = AuthorityFrom(Days(400));
    f.trusted = false;
  });
  const CertificateFacts without_key = With([](CertificateFacts& f) { f.can_sign = false; });
  const CertificateFacts nothing = With([](CertificateFacts& f) {
    f.can_sign = false;
    f.server.reset();
  });
  const CertificateFacts first_start{};
  return {
      {"the first start", first_start, At(0), kRemakeAuthority, kNone},
      {"the first start in 1970", first_start, {0, 0, kBuilt}, kRemakeAuthority, kNone},
      {"nobody trusts it, and it is valid", unused, At(0), kKeep, kNone},
      {"nobody trusts it, and it is not valid yet", unused_ahead, At(0), kRemakeAuthority, kNone},
      {"nobody trusts it, and it has ended", unused, At(3700), kRemakeAuthority, kNone},
      {"nobody trusts it, and its key is lost",
       With([](CertificateFacts& f) { f.trusted = f.can_sign = false; }), At(0), kRemakeAuthority,
       kNone},
      {"devices trust it, and it is not valid yet", ahead, At(0), kRemakeServer,
       kAuthorityNotYetValid},
      {"devices trust it, and it has ended", usual, At(3700), kRemakeServer, kAuthorityEnded},
      {"devices trust it, and a step of the clock has ended it", usual, Stepped(3700, 0),
       kRemakeServer, kAuthorityEnded},
      {"devices trust it, and it ends within a year", usual, At(3300), kRemakeServer,
       kAuthorityEndsSoon},
      {"its key is lost", without_key, At(0), kKeep, kCannotSign},
      {"its key is lost, and a name is missing",
       With([](CertificateFacts& f) { f.can_sign = f.fits = false; }), At(0), kKeep, kCannotSign},
      {"its key is lost, and the server certificate has ended", without_key, At(400), kKeep,
       kServerEnded},
      {"its key is lost, and the server certificate is not valid yet", without_key, At(-50), kKeep,
       kServerNotYetValid},
      {"its key is lost, and there is no server certificate", nothing, At(0), kNothingToServe,
       kCannotSign},
  };
}

void Check(const Row& row) {
  SCOPED_TRACE(row.what);
  const CertificateDecision decision = DecideCertificates(row.facts, row.times);
  EXPECT_EQ(decision.action, row.action);
  EXPECT_EQ(decision.trouble, row.trouble);
}

TEST(OpsCertificateRule, MakesAServerCertificateAgainThatIsNotValidNow) {
  for (const Row& row : ServerRows()) Check(row);
}

TEST(OpsCertificateRule, KeepsTheAuthorityThatDevicesCanHaveTrusted) {
  for (const Row& row : AuthorityRows()) Check(row);
}

// Whatever is made is kept by the next look, or the box would make certificates every minute.
TEST(OpsCertificateRule, IsContentWithWhatItHasMade) {
  std::vector<Row> rows = ServerRows();
  for (const Row& row : AuthorityRows()) rows.push_back(row);
  for (const int64_t wall : {-20'000, -700, -100, -1, 0, 1, 340, 400, 3620, 3651, 3652, 9000}) {
    for (const int64_t settled : {-20'000, -700, 0, 300, 400, 3652, 9000}) {
      rows.push_back({"steps", Usual(), Stepped(wall, settled), kKeep, kNone});
    }
  }
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what + " " + FormatInstant(row.times.wall));
    CertificateFacts facts = row.facts;
    const CertificateDecision first = DecideCertificates(facts, row.times);
    if (first.action == kKeep || first.action == kNothingToServe) continue;
    facts.server = first.server;
    facts.fits = facts.can_sign = true;
    if (first.action == kRemakeAuthority) facts.authority = first.authority;

    EXPECT_EQ(DecideCertificates(facts, row.times).action, kKeep);
    EXPECT_TRUE(first.server.Holds(CertificateNow(row.times)));
  }
}

TEST(OpsCertificateRule, DatesAnAuthorityFromTheBuildSoThatAClockAheadDoesNoHarm) {
  const CertificateDecision made = DecideCertificates({}, At(400));

  EXPECT_EQ(made.authority.not_before, kBuilt - kDayMs);
  EXPECT_TRUE(made.authority.Holds(kNow));
  EXPECT_EQ(made.authority.not_after, Days(400 - 1 + 3652));
}

TEST(OpsCertificateRule, DatesNothingBeforeTheBuild) {
  const CertificateDecision made = DecideCertificates({}, {0, 0, kBuilt});

  EXPECT_EQ(made.server, ServerFrom(kBuilt));
  EXPECT_EQ(made.authority.not_before, kBuilt - kDayMs);
}

TEST(OpsCertificateRule, MakesAServerCertificateForBothClocksWhereADistanceOfWeeksIsBetweenThem) {
  CertificateFacts facts = Usual();
  facts.fits = false;
  for (const int64_t step : {-60, -20, 30, 55}) {
    const Validity server = DecideCertificates(facts, Stepped(step, 0)).server;
    EXPECT_TRUE(server.Holds(Days(step)) && server.Holds(kNow)) << step;
  }
}

TEST(OpsCertificateRule, EndsAServerCertificateWithItsAuthority) {
  const CertificateDecision decision = DecideCertificates(Usual(), At(3600));

  EXPECT_EQ(decision.server.not_after, Usual().authority->not_after);
}

TEST(OpsCertificateRule, TellsOfTheBoundsOfTheOwnersCertificate) {
  EXPECT_EQ(JudgeOwners(ServerFrom(kNow), At(0)), kNone);
  EXPECT_EQ(JudgeOwners(ServerFrom(kNow), At(90)), kServerEnded);
  EXPECT_EQ(JudgeOwners(ServerFrom(kNow), At(-2)), kServerNotYetValid);
}

}  // namespace
}  // namespace comanda::ops
