#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <string>

namespace comanda {
namespace {

struct Shown {
  int result;
  std::string host;
  std::string service;
};

template <typename Address>
Shown Show(const Address& address, socklen_t host_size = 64) {
  std::array<char, 64> host{};
  std::array<char, 16> service{};
  const int result =
      ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), sizeof address, host.data(),
                    host_size, service.data(), service.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  return {result, host.data(), service.data()};
}

TEST(StaticLibc, ShowsAddressesOfBothFamiliesAsNumbers) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(8443);
  ::inet_pton(AF_INET, "192.168.1.20", &v4.sin_addr);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(443);
  ::inet_pton(AF_INET6, "fd00::20", &v6.sin6_addr);

  EXPECT_EQ(Show(v4).host, "192.168.1.20");
  EXPECT_EQ(Show(v4).service, "8443");
  EXPECT_EQ(Show(v6).host, "fd00::20");
  EXPECT_EQ(Show(v6).service, "443");
  EXPECT_EQ(Show(v4, 5).result, EAI_OVERFLOW);
}

TEST(StaticLibc, RefusesUnknownFamilies) {
  sockaddr_storage unknown{};
  unknown.ss_family = AF_UNIX + 40;

  EXPECT_EQ(Show(unknown).result, EAI_FAMILY);
}

TEST(StaticLibc, ReadsNumericAddresses) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  for (const char* text : {"192.168.1.20", "fd00::20"}) {
    addrinfo* found = nullptr;
    ASSERT_EQ(::getaddrinfo(text, nullptr, &hints, &found), 0) << text;
    std::array<char, 64> host{};
    ::getnameinfo(found->ai_addr, found->ai_addrlen, host.data(), host.size(), nullptr, 0,
                  NI_NUMERICHOST);
    EXPECT_STREQ(host.data(), text);
    ::freeaddrinfo(found);
  }
}

TEST(StaticLibc, ReadsNoNamesAsAddresses) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;

  EXPECT_NE(::getaddrinfo("box.local", nullptr, &hints, &found), 0);
  hints.ai_family = AF_INET6;
  EXPECT_NE(::getaddrinfo("192.168.1.20", nullptr, &hints, &found), 0);
}

}  // namespace
}  // namespace comanda
