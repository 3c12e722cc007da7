#include "wire/sources.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

namespace comanda::wire {
namespace {

std::string SourceOf4(const char* text) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  inet_pton(AF_INET, text, &in.sin_addr);
  return SourceOf(reinterpret_cast<const sockaddr&>(in));
}

std::string SourceOf6(const char* text) {
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  inet_pton(AF_INET6, text, &in.sin6_addr);
  return SourceOf(reinterpret_cast<const sockaddr&>(in));
}

TEST(WireSources, AreAddressesOfIpv4AndNetworksOfIpv6) {
  EXPECT_NE(SourceOf4("192.168.1.20"), SourceOf4("192.168.1.21"));
  EXPECT_EQ(SourceOf6("2001:db8:1:2::3"), SourceOf6("2001:db8:1:2:ffff::4"));
  EXPECT_NE(SourceOf6("2001:db8:1:2::3"), SourceOf6("2001:db8:1:3::3"));
  EXPECT_EQ(SourceOf6("::ffff:192.168.1.20"), SourceOf4("192.168.1.20"));
}

TEST(WireSources, CountStrangersUntilTheyShowAKeyOrLeave) {
  Sources sources;
  Source& one = sources.Open("one");
  sources.AddStranger(one);
  Source& again = sources.Open("one");
  sources.AddStranger(again);
  EXPECT_EQ(&one, &again);
  EXPECT_EQ(sources.strangers(), 2U);

  sources.ShowKey(one);
  EXPECT_EQ(sources.strangers(), 0U) << "the other one has a kept place";

  Source& other = sources.Open("other");
  sources.AddStranger(other);
  EXPECT_EQ(sources.strangers(), 1U);
  sources.Leave(other, true);
  EXPECT_EQ(sources.strangers(), 0U);
}

TEST(WireSources, KeepAFewPlacesForASourceThatShowedAKey) {
  Sources sources;
  Source& known = sources.Open("known");
  sources.AddStranger(known);
  sources.ShowKey(known);
  for (size_t i = 0; i < Sources::kPlacesKept; ++i) {
    EXPECT_FALSE(Sources::CountsAsStranger(known));
    sources.AddStranger(known);
  }
  EXPECT_EQ(sources.strangers(), 0U);
  EXPECT_TRUE(Sources::CountsAsStranger(known));
  sources.AddStranger(known);
  EXPECT_EQ(sources.strangers(), 1U);
}

TEST(WireSources, CountStrangersOfUntrustedSourcesForThemselves) {
  Sources sources;
  Source& one = sources.Open("one");
  sources.AddStranger(one);
  Source& other = sources.Open("other");
  sources.AddStranger(other);
  sources.Open("one");
  sources.AddStranger(one);
  EXPECT_EQ(sources.of_untrusted(), 3U);

  sources.ShowKey(one);
  EXPECT_TRUE(one.IsTrusted());
  EXPECT_EQ(sources.of_untrusted(), 1U) << "those of a trusted source do not count";
  sources.Leave(one, false);
  sources.Leave(other, true);
  EXPECT_EQ(sources.of_untrusted(), 0U);
}

TEST(WireSources, RememberAKnownSourceWithoutConnections) {
  Sources sources;
  Source& terminal = sources.Open("terminal");
  sources.AddStranger(terminal);
  sources.ShowKey(terminal);
  sources.Leave(terminal, false);

  EXPECT_FALSE(Sources::CountsAsStranger(sources.Open("terminal")));
  EXPECT_TRUE(Sources::CountsAsStranger(sources.Open("stranger")));
}

TEST(WireSources, ForgetTheSourceThatShowedItsKeyLongestAgo) {
  Sources sources;
  const auto visit = [&](const std::string& name) {
    Source& source = sources.Open(name);
    sources.AddStranger(source);
    sources.ShowKey(source);
    sources.Leave(source, false);
  };
  visit("first");
  visit("second");
  visit("first");
  for (size_t i = 2; i <= Sources::kKnownMax; ++i) visit(std::to_string(i));

  EXPECT_TRUE(Sources::CountsAsStranger(sources.Open("second")));
  EXPECT_FALSE(Sources::CountsAsStranger(sources.Open("first")));
}

}  // namespace
}  // namespace comanda::wire
