#include "auth/device_requests.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/problem.h"

namespace comanda::auth {
namespace {

DeviceRequest From(std::string address, std::string name = "Tablet") {
  return {
      .number = "", .role = Role::kKitchen, .name = std::move(name), .address = std::move(address)};
}

int RetryAfter(DeviceRequests& requests, const std::string& address, int64_t now_ms) {
  try {
    requests.Add(From(address), now_ms);
    return 0;
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.problem, Problem::kRateLimitExceeded);
    return refusal.retry_after_s;
  }
}

bool IsLimited(DeviceRequests& requests, const std::string& key, int64_t now_ms) {
  try {
    requests.RequireNumbersLeft(key, now_ms);
    return false;
  } catch (const Refusal& refusal) {
    EXPECT_GT(refusal.retry_after_s, 0);
    return true;
  }
}

TEST(DeviceRequests, GivesTheKeyToTheDeviceThatAskedAndOnce) {
  DeviceRequests requests;
  const auto made = requests.Add(From("10.0.0.5"), 0);
  EXPECT_EQ(made.request.number.size(), 6u);
  EXPECT_EQ(made.text.size(), 22u);
  EXPECT_TRUE(requests.Collect(made.text, 1).is_known);
  EXPECT_FALSE(requests.Collect(made.request.number, 1).is_known);

  ASSERT_TRUE(requests.Claim(made.request.number, "a", 2));
  requests.Accept(made.request.number, "a", {"id", "{}"});

  EXPECT_EQ(requests.Collect(made.text, 3).key->id, "id");
  EXPECT_FALSE(requests.Collect(made.text, 3).is_known);
}

TEST(DeviceRequests, AreClaimedByOneAlone) {
  DeviceRequests requests;
  const std::string number = requests.Add(From("10.0.0.5"), 0).request.number;

  EXPECT_TRUE(requests.Claim(number, "a", 1));
  EXPECT_TRUE(requests.Claim(number, "a", 1));
  EXPECT_FALSE(requests.Claim(number, "b", 1));
  EXPECT_FALSE(requests.Find(number, 1));
  requests.Release(number, "b");
  EXPECT_FALSE(requests.Claim(number, "b", 1));
  requests.Release(number, "a");
  EXPECT_TRUE(requests.Claim(number, "b", 1));
  requests.Accept(number, "b", {"id", "{}"});
  EXPECT_FALSE(requests.Claim(number, "b", 1));
}

TEST(DeviceRequests, AreCollectedByOneOfManyThreads) {
  DeviceRequests requests;
  const auto made = requests.Add(From("10.0.0.5"), 0);
  requests.Claim(made.request.number, "a", 1);
  requests.Accept(made.request.number, "a", {"id", "{}"});
  std::atomic<int> got = 0;
  {
    std::vector<std::jthread> devices;
    for (int i = 0; i < 8; ++i) {
      devices.emplace_back([&] { got += requests.Collect(made.text, 2).key ? 1 : 0; });
    }
  }
  EXPECT_EQ(got, 1);
}

TEST(DeviceRequests, LastTenMinutes) {
  DeviceRequests requests;
  const auto made = requests.Add(From("10.0.0.5"), 0);
  EXPECT_TRUE(requests.Find(made.request.number, kDeviceRequestLifeMs - 1));
  EXPECT_FALSE(requests.Find(made.request.number, kDeviceRequestLifeMs));
  EXPECT_FALSE(requests.Claim(made.request.number, "a", kDeviceRequestLifeMs));
  EXPECT_FALSE(requests.Collect(made.text, kDeviceRequestLifeMs).is_known);
}

TEST(DeviceRequests, AreTwoOfOneSource) {
  DeviceRequests requests;
  requests.Add(From("10.0.0.5"), 0);
  const auto second = requests.Add(From("10.0.0.5"), 60'000);
  EXPECT_EQ(RetryAfter(requests, "10.0.0.5", 60'000), 540);
  EXPECT_EQ(RetryAfter(requests, "10.0.0.6", 60'000), 0);
  requests.Add(From("2001:db8::1"), 60'000);
  requests.Add(From("2001:db8::2"), 60'000);
  EXPECT_GT(RetryAfter(requests, "2001:db8::3", 60'000), 0);
  // One that was refused frees its place.
  requests.Claim(second.request.number, "a", 60'000);
  requests.Drop(second.request.number, "a");
  EXPECT_EQ(RetryAfter(requests, "10.0.0.5", 60'000), 0);
  EXPECT_FALSE(requests.Collect(second.text, 60'000).is_known);
}

TEST(DeviceRequests, AreTwentyInAll) {
  DeviceRequests requests;
  const auto alone = requests.Add(From("10.0.1.1"), 0);
  const auto first_of_two = requests.Add(From("10.0.0.1"), 0);
  requests.Add(From("10.0.0.1"), 0);
  for (int i = 2; i < 19; ++i) requests.Add(From("10.0.0." + std::to_string(i)), 0);
  EXPECT_EQ(requests.Waiting(0).size(), 20u);
  requests.Add(From("10.0.2.1"), 0);
  EXPECT_EQ(requests.Waiting(0).size(), 20u);
  EXPECT_TRUE(requests.Find(alone.request.number, 0));
  EXPECT_FALSE(requests.Find(first_of_two.request.number, 0));
}

TEST(DeviceRequests, ShowEachNumberOnce) {
  DeviceRequests requests;
  for (int i = 0; i < 2000; ++i) {
    requests.Add(From("10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250)), i);
    std::set<std::string> numbers;
    for (const DeviceRequest& one : requests.Waiting(i)) numbers.insert(one.number);
    EXPECT_EQ(numbers.size(), requests.Waiting(i).size());
  }
}

TEST(DeviceRequests, EndAnOlderPoll) {
  DeviceRequests requests;
  const auto made = requests.Add(From("10.0.0.5"), 0);
  const uint64_t first = requests.BeginPoll(made.text);
  EXPECT_FALSE(requests.HasNews(made.text, first, 1));
  const uint64_t second = requests.BeginPoll(made.text);
  EXPECT_TRUE(requests.HasNews(made.text, first, 1));
  EXPECT_FALSE(requests.HasNews(made.text, second, 1));
}

TEST(DeviceRequests, LookAtTenWrongNumbersOfAKeyWithinAMinute) {
  DeviceRequests requests;
  for (int i = 0; i < kWrongNumbersMax; ++i) {
    EXPECT_FALSE(IsLimited(requests, "a", 5));
    requests.CountWrongNumber("a", 5);
  }
  EXPECT_TRUE(IsLimited(requests, "a", 60'004));
  EXPECT_FALSE(IsLimited(requests, "b", 60'004));
  EXPECT_FALSE(IsLimited(requests, "a", 60'005));
}

}  // namespace
}  // namespace comanda::auth
