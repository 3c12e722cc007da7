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

TEST(WireSources, CountConnectionsAsUnauthenticatedUntilTheyAuthenticateOrLeave) {
  Sources sources;
  Source& one = sources.Open("one");
  sources.AddUnauthenticated(one);
  Source& again = sources.Open("one");
  sources.AddUnauthenticated(again);
  EXPECT_EQ(&one, &again);
  EXPECT_EQ(sources.excess(), 2U);

  sources.Trust(one);
  EXPECT_EQ(sources.excess(), 0U) << "the other one is one of the reserved";

  Source& other = sources.Open("other");
  sources.AddUnauthenticated(other);
  EXPECT_EQ(sources.excess(), 1U);
  sources.Leave(other, true);
  EXPECT_EQ(sources.excess(), 0U);
}

TEST(WireSources, ReserveAFewConnectionsForATrustedSource) {
  Sources sources;
  Source& trusted = sources.Open("trusted");
  sources.AddUnauthenticated(trusted);
  sources.Trust(trusted);
  for (size_t i = 0; i < Sources::kReserved; ++i) {
    EXPECT_FALSE(Sources::HasNoReserve(trusted));
    sources.AddUnauthenticated(trusted);
  }
  EXPECT_EQ(sources.excess(), 0U);
  EXPECT_TRUE(Sources::HasNoReserve(trusted));
  sources.AddUnauthenticated(trusted);
  EXPECT_EQ(sources.excess(), 1U);
}

TEST(WireSources, CountThoseOfUntrustedSourcesSeparately) {
  Sources sources;
  Source& one = sources.Open("one");
  sources.AddUnauthenticated(one);
  Source& other = sources.Open("other");
  sources.AddUnauthenticated(other);
  sources.Open("one");
  sources.AddUnauthenticated(one);
  EXPECT_EQ(sources.of_untrusted(), 3U);

  sources.Trust(one);
  EXPECT_TRUE(one.IsTrusted());
  EXPECT_EQ(sources.of_untrusted(), 1U) << "those of a trusted source do not count";
  sources.Leave(one, false);
  sources.Leave(other, true);
  EXPECT_EQ(sources.of_untrusted(), 0U);
}

TEST(WireSources, RememberATrustedSourceWithoutConnections) {
  Sources sources;
  Source& terminal = sources.Open("terminal");
  sources.AddUnauthenticated(terminal);
  sources.Trust(terminal);
  sources.Leave(terminal, false);

  EXPECT_FALSE(Sources::HasNoReserve(sources.Open("terminal")));
  EXPECT_TRUE(Sources::HasNoReserve(sources.Open("unknown")));
}

TEST(WireSources, ForgetTheSourceThatShowedItsKeyLongestAgo) {
  Sources sources;
  const auto visit = [&](const std::string& name) {
    Source& source = sources.Open(name);
    sources.AddUnauthenticated(source);
    sources.Trust(source);
    sources.Leave(source, false);
  };
  visit("first");
  visit("second");
  visit("first");
  for (size_t i = 2; i <= Sources::kTrustedMax; ++i) visit(std::to_string(i));

  EXPECT_TRUE(Sources::HasNoReserve(sources.Open("second")));
  EXPECT_FALSE(Sources::HasNoReserve(sources.Open("first")));
}

}  // namespace
}  // namespace comanda::wire
