#include "base/address.h"

#include <gtest/gtest.h>

namespace comanda {
namespace {

bool Allows(std::string_view range, std::string_view address) {
  return AddressRange::Parse(range)->Contains(*ParseAddress(address));
}

TEST(BaseAddress, ContainsWhatLiesInTheRange) {
  EXPECT_TRUE(Allows("192.168.1.0/24", "192.168.1.77"));
  EXPECT_FALSE(Allows("192.168.1.0/24", "192.168.2.77"));
  EXPECT_TRUE(Allows("10.128.0.0/9", "10.255.1.1"));
  EXPECT_FALSE(Allows("10.128.0.0/9", "10.127.1.1"));
  EXPECT_TRUE(Allows("2001:db8::/32", "2001:db8:1::5"));
  EXPECT_FALSE(Allows("2001:db8::/32", "2001:db9::5"));
  EXPECT_TRUE(Allows("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(Allows("0.0.0.0/0", "2001:db8::5"));
}

TEST(BaseAddress, ReadsOneAddressAsARangeOfItself) {
  EXPECT_TRUE(Allows("192.168.1.5", "192.168.1.5"));
  EXPECT_FALSE(Allows("192.168.1.5", "192.168.1.4"));
}

TEST(BaseAddress, ReadsMappedAndScopedAddressesAsWhatTheyAre) {
  EXPECT_TRUE(Allows("192.168.1.0/24", "::ffff:192.168.1.7"));
  EXPECT_TRUE(Allows("fe80::/10", "fe80::1%eth0"));
}

TEST(BaseAddress, RefusesMalformedRanges) {
  for (const char* text : {"", "192.168.1", "192.168.1.0/33", "192.168.1.1/24", "10.0.0.0/", "x",
                           "10.0.0.0/-1", "10.0.0.0/8x", "::/129", "fe80::%eth0/64"}) {
    EXPECT_FALSE(AddressRange::Parse(text)) << text;
  }
}

TEST(BaseAddress, TakesAWholeNetworkOfIpv6ForOneClient) {
  EXPECT_EQ(ClientOf("2001:db8::1"), ClientOf("2001:db8::2"));
  EXPECT_NE(ClientOf("2001:db8::1"), ClientOf("2001:db8:0:1::1"));
  EXPECT_NE(ClientOf("10.0.0.1"), ClientOf("10.0.0.2"));
  EXPECT_EQ(ClientOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(ClientOf("::ffff:10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(ClientOf("fe80::1%eth0"), "fe80::/64");
}

TEST(BaseAddress, ReadsTheWholeText) {
  EXPECT_FALSE(ParseAddress(std::string_view("::1\0x", 5)));
  EXPECT_FALSE(ParseAddress("::1 "));
  EXPECT_TRUE(ParseAddress("fe80::1%eth0"));
}

}  // namespace
}  // namespace comanda
