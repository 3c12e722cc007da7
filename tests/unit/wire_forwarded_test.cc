#include "wire/forwarded.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/problem.h"

namespace comanda::wire {
namespace {

const std::vector<AddressRange> kProxies = {*AddressRange::Parse("10.0.0.0/24"),
                                            *AddressRange::Parse("2001:db8:1::/48")};

std::string Client(const std::vector<std::string>& lists) {
  Request request;
  request.client_address = "10.0.0.11";
  for (const std::string& list : lists) request.headers.emplace_back("x-forwarded-for", list);
  return ClientBehind(request, kProxies);
}

TEST(WireForwarded, TakesTheLastAddressThatIsNoProxys) {
  EXPECT_EQ(Client({"203.0.113.7"}), "203.0.113.7");
  EXPECT_EQ(Client({"198.51.100.1, 203.0.113.7"}), "203.0.113.7");
  EXPECT_EQ(Client({"198.51.100.1, 203.0.113.7, 10.0.0.12"}), "203.0.113.7");
  EXPECT_EQ(Client({"198.51.100.1", "203.0.113.7 ,10.0.0.12"}), "203.0.113.7");
  EXPECT_EQ(Client({"198.51.100.1, 2001:db8:1::5"}), "198.51.100.1");
}

TEST(WireForwarded, ReadsIpv6) {
  EXPECT_EQ(Client({"2001:DB8:2:0:0:0:0:1"}), "2001:db8:2::1");
  EXPECT_EQ(Client({"[2001:db8:2::1]"}), "2001:db8:2::1");
  EXPECT_EQ(Client({"::ffff:203.0.113.7"}), "203.0.113.7");
}

TEST(WireForwarded, IsThePeerWhereNoOtherAddressIsTold) {
  EXPECT_EQ(Client({}), "10.0.0.11");
  EXPECT_EQ(Client({"10.0.0.12"}), "10.0.0.11");
}

TEST(WireForwarded, RefusesWhatIsNoListOfAddresses) {
  for (const char* list : {"", "unknown", "203.0.113.7,", ",203.0.113.7", "203.0.113.7:8080",
                           "203.0.113.7 198.51.100.1", "203.0.113.300", "[2001:db8::1"}) {
    EXPECT_THROW(Client({list}), Refusal) << list;
  }
}

TEST(WireForwarded, RefusesMoreThanAKibibyte) {
  std::string list = "203.0.113.7";
  while (list.size() + 13 <= kForwardedBytesMax) list += ", 203.0.113.7";
  list.resize(kForwardedBytesMax, ' ');
  EXPECT_EQ(Client({list}), "203.0.113.7");
  EXPECT_THROW(Client({list + " "}), Refusal);
}

TEST(WireForwarded, KnowsItsProxies) {
  EXPECT_TRUE(IsProxy("10.0.0.200", kProxies));
  EXPECT_TRUE(IsProxy("2001:db8:1::9", kProxies));
  EXPECT_FALSE(IsProxy("10.0.1.1", kProxies));
  EXPECT_FALSE(IsProxy("local", kProxies));
  EXPECT_FALSE(IsProxy("10.0.0.200", {}));
}

}  // namespace
}  // namespace comanda::wire
