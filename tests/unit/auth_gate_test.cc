#include "auth/gate.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "crypto/hash.h"
#include "support/fake_clock.h"

namespace comanda::auth {
namespace {

std::string HashOf(std::string_view key) {
  const crypto::Sha256Digest digest = crypto::Sha256(key);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

class AuthGate : public ::testing::Test {
 protected:
  AuthGate() { table_.Put(Record()); }

  KeyRecord Record() {
    KeyRecord record;
    record.id = "k1";
    record.company = db::CompanyId{1};
    record.company_uuid = "c1";
    record.hash = HashOf(key_);
    record.scopes.Add(Scope::kOrdersRead);
    return record;
  }

  // The kind of refusal, or nothing where the key was admitted.
  std::optional<Problem> Try(const Credentials& credentials, std::string_view from = "10.0.0.9") {
    try {
      gate_.Identify(credentials, from);
      return std::nullopt;
    } catch (const Refusal& refusal) {
      retry_after_s_ = refusal.retry_after_s;
      return refusal.problem;
    }
  }
  std::optional<Problem> TryKey(std::string_view key, std::string_view from = "10.0.0.9") {
    return Try({.authorization = std::nullopt, .api_key = key}, from);
  }

  testing::FakeClock clock_;
  KeyTable table_;
  Gate gate_{{}, table_, clock_};
  std::string key_ = MakeKey("cmd", Mode::kLive);
  std::string other_ = MakeKey("cmd", Mode::kLive);
  int retry_after_s_ = 0;
};

TEST_F(AuthGate, TakesTheKeyFromEitherHeader) {
  const std::string bearer = "Bearer " + key_;
  const std::string lower = "bearer " + key_;
  EXPECT_EQ(Try({bearer, {}}), std::nullopt);
  EXPECT_EQ(Try({lower, {}}), std::nullopt);
  EXPECT_EQ(Try({{}, key_}), std::nullopt);
  EXPECT_EQ(Try({bearer, key_}), std::nullopt);
  EXPECT_EQ(Try({bearer, other_}), Problem::kConflictingCredentials);
}

TEST_F(AuthGate, RefusesWhatIsNoKey) {
  const std::string basic = "Basic " + key_;
  EXPECT_EQ(Try({}), Problem::kUnauthorized);
  EXPECT_EQ(Try({basic, {}}), Problem::kUnauthorized);
  EXPECT_EQ(Try({"Bearer", {}}), Problem::kUnauthorized);
  EXPECT_EQ(Try({"Bearer ", {}}), Problem::kUnauthorized);
  EXPECT_EQ(TryKey(key_.substr(1)), Problem::kUnauthorized);
  EXPECT_EQ(TryKey(other_), Problem::kUnauthorized);
}

TEST_F(AuthGate, CallsNoKeyUnknownWhereSomeCannotBeRead) {
  table_.NoteUnreadable();
  EXPECT_EQ(TryKey(other_), Problem::kServiceUnavailable);
  EXPECT_GT(retry_after_s_, 0);
  EXPECT_EQ(TryKey(key_), std::nullopt);
  EXPECT_EQ(TryKey("mistyped"), Problem::kUnauthorized);
}

TEST_F(AuthGate, NamesAKeyOfTheOtherEnvironmentKnownOrNot) {
  EXPECT_EQ(TryKey(MakeKey("cmd", Mode::kTest)), Problem::kWrongEnvironment);
}

TEST_F(AuthGate, RefusesARevokedKeyOnTheNextRequest) {
  KeyRecord revoked = Record();
  revoked.revoked_at = clock_.Now();
  table_.Put(revoked);
  EXPECT_EQ(TryKey(key_), Problem::kKeyRevoked);
}

TEST_F(AuthGate, LetsAKeyLiveUntilItsTimeIsOver) {
  KeyRecord ending = Record();
  ending.revoked_at = clock_.Now() + 1000;
  table_.Put(ending);
  EXPECT_EQ(TryKey(key_), std::nullopt);
  clock_.Advance(1000);
  EXPECT_EQ(TryKey(key_), Problem::kKeyRevoked);
  ending.revoked_at.reset();
  ending.expires_at = clock_.Now();
  table_.Put(ending);
  EXPECT_EQ(TryKey(key_), Problem::kKeyExpired);
}

TEST_F(AuthGate, AdmitsOnlyFromTheAllowedAddresses) {
  KeyRecord local = Record();
  local.allowed_cidrs = {"192.168.1.0/24", "2001:db8::/32"};
  table_.Put(local);
  EXPECT_EQ(TryKey(key_, "192.168.1.44"), std::nullopt);
  EXPECT_EQ(TryKey(key_, "2001:db8::9"), std::nullopt);
  EXPECT_EQ(TryKey(key_, "10.0.0.9"), Problem::kAddressNotAllowed);
}

TEST_F(AuthGate, LimitsUnknownKeysOfOneAddressAndNeverAValidOne) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(TryKey(other_), Problem::kUnauthorized);
  EXPECT_EQ(TryKey(other_), Problem::kRateLimitExceeded);
  EXPECT_EQ(retry_after_s_, 60);
  EXPECT_EQ(TryKey("mistyped"), Problem::kRateLimitExceeded);
  EXPECT_EQ(TryKey(key_), std::nullopt);
  EXPECT_EQ(TryKey(other_, "10.0.0.10"), Problem::kUnauthorized);
  clock_.Advance(59'500);
  EXPECT_EQ(TryKey(other_), Problem::kRateLimitExceeded);
  EXPECT_EQ(retry_after_s_, 1);
  clock_.Advance(500);
  EXPECT_EQ(TryKey(other_), Problem::kUnauthorized);
}

TEST_F(AuthGate, RemembersABoundedNumberOfAddresses) {
  for (int i = 0; i < 20; ++i) TryKey(other_, "10.9.9.9");
  EXPECT_EQ(TryKey(other_, "10.9.9.9"), Problem::kRateLimitExceeded);
  for (int i = 0; i < 4096; ++i) {
    TryKey("x", "10.1." + std::to_string(i / 256) + "." + std::to_string(i % 256));
  }
  EXPECT_EQ(TryKey(other_, "10.9.9.9"), Problem::kUnauthorized) << "the oldest was dropped";
}

TEST_F(AuthGate, CountsRequestsUnderWay) {
  std::vector<Permit> under_way;
  for (int i = 0; i < 8; ++i) {
    under_way.push_back(gate_.Admit(table_.Find(HashOf(key_))));
    EXPECT_EQ(under_way.back().rate.retry_after_s, 0);
  }
  {
    const Permit ninth = gate_.Admit(table_.Find(HashOf(key_)));
    EXPECT_EQ(ninth.rate.retry_after_s, 1);
    EXPECT_EQ(ninth.rate.remaining, 92) << "a refused request costs nothing";
  }
  under_way.pop_back();
  EXPECT_EQ(gate_.Admit(table_.Find(HashOf(key_))).rate.retry_after_s, 0);
}

TEST_F(AuthGate, KeepsTheBucketWhenTheKeyIsChanged) {
  { gate_.Admit(table_.Find(HashOf(key_))); }
  table_.Put(Record());
  EXPECT_EQ(gate_.Admit(table_.Find(HashOf(key_))).rate.remaining, 98);
}

TEST_F(AuthGate, RefundsAnAdmission) {
  Permit permit = gate_.Admit(table_.Find(HashOf(key_)));
  EXPECT_EQ(permit.rate.remaining, 99);
  gate_.Refund(permit);
  EXPECT_EQ(permit.rate.remaining, 100);
  EXPECT_EQ(permit.rate.reset_s, 0);
}

TEST_F(AuthGate, NotesWhenAndFromWhereAKeyWasUsed) {
  TryKey(key_, "10.0.0.7");
  const auto key = table_.Find(HashOf(key_));
  EXPECT_EQ(key->use->last_used_at, clock_.Now());
  EXPECT_EQ(key->use->last_used_ip, "10.0.0.7");
  EXPECT_TRUE(key->use->last_used_dirty);
}

TEST_F(AuthGate, NamesTheScopeThatIsMissing) {
  const Principal principal = gate_.Admit(table_.Find(HashOf(key_))).principal();
  EXPECT_EQ(principal.actor, "key:k1");
  Gate::RequireScope(principal.scopes, Scope::kOrdersRead);
  try {
    Gate::RequireScope(principal.scopes, Scope::kOrdersWrite);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.problem, Problem::kInsufficientScope);
    EXPECT_EQ(refusal.required_scope, "orders:write");
    EXPECT_NE(refusal.detail.find("orders:write"), std::string::npos);
  }
}

}  // namespace
}  // namespace comanda::auth
