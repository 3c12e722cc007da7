#include "net/internet.h"

#include <gtest/gtest.h>

namespace comanda::net {
namespace {

using State = Internet::State;
constexpr int64_t kMinute = 60'000;

TEST(NetInternet, IsNotKnownWhileNothingWasCalledOutside) {
  Internet internet;
  internet.Note(Evidence::kNone, "till.local", 1'000);
  EXPECT_EQ(internet.Get(2'000).state, State::kUnknown);
}

TEST(NetInternet, IsDownFromTheFirstOfSeveralFailuresAndOkAtOnceAfterAConnection) {
  Internet internet;
  internet.Note(Evidence::kConnected, "cloud.example.com", 1'000);
  EXPECT_EQ(internet.Get(3'000).state, State::kOk);
  EXPECT_EQ(internet.Get(3'000).since_ms, 2'000);
  internet.Note(Evidence::kNoRoute, "cloud.example.com", 5'000);
  EXPECT_EQ(internet.Get(5'000).state, State::kOk) << "a single failure";
  internet.Note(Evidence::kNoRoute, "cloud.example.com", 9'000);
  EXPECT_EQ(internet.Get(10'000).state, State::kDown);
  EXPECT_EQ(internet.Get(10'000).since_ms, 5'000);
  internet.Note(Evidence::kConnected, "hooks.example.com", 11'000);
  EXPECT_EQ(internet.Get(11'000).state, State::kOk);
}

TEST(NetInternet, IsNotDownBecauseOneHostIsSilent) {
  Internet internet;
  internet.Note(Evidence::kConnected, "hooks.example.com", 1'000);
  for (int i = 0; i < 5; ++i) internet.Note(Evidence::kSilence, "cloud.example.com", 2'000 + i);
  EXPECT_EQ(internet.Get(3'000).state, State::kUnknown);
  internet.Note(Evidence::kSilence, "hooks.example.com", 4'000);
  EXPECT_EQ(internet.Get(5'000).state, State::kDown);
  EXPECT_EQ(internet.Get(5'000).since_ms, 3'000);
}

TEST(NetInternet, IsForgottenWhenNothingIsCalledAnyMore) {
  Internet internet;
  internet.Note(Evidence::kConnected, "cloud.example.com", 0);
  EXPECT_EQ(internet.Get(21 * kMinute).state, State::kUnknown);
  internet.Note(Evidence::kNoRoute, "cloud.example.com", 22 * kMinute);
  internet.Note(Evidence::kNoRoute, "cloud.example.com", 23 * kMinute);
  EXPECT_EQ(internet.Get(42 * kMinute).state, State::kDown);
  EXPECT_EQ(internet.Get(44 * kMinute).state, State::kUnknown);
}

TEST(NetInternet, KnowsWhichAddressesAndNamesAreLocal) {
  for (const char* address :
       {"127.0.0.1", "10.0.0.9", "172.31.0.1", "192.168.1.1", "169.254.1.1", "100.64.0.1", "::1",
        "::", "fd00::1", "fe80::1", "255.255.255.255", "::ffff:10.0.0.1", "", "no address"}) {
    EXPECT_FALSE(IsPublicAddress(address)) << address;
  }
  for (const char* address : {"93.184.216.34", "8.8.8.8", "172.32.0.1", "2606:4700::1111"}) {
    EXPECT_TRUE(IsPublicAddress(address)) << address;
  }
  for (const char* host : {"localhost", "till", "till.local", "Till.LOCAL.", "box.lan",
                           "a.home.arpa", "192.168.1.1", "93.184.216.34"}) {
    EXPECT_FALSE(IsPublicName(host)) << host;
  }
  EXPECT_TRUE(IsPublicName("cloud.example.com"));
}

}  // namespace
}  // namespace comanda::net
