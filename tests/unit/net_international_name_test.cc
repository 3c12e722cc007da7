#include "net/international_name.h"

#include <gtest/gtest.h>

namespace comanda::net {
namespace {

TEST(NetInternationalName, WritesTheHostWithAsciiLetters) {
  EXPECT_EQ(WithAsciiHost("https://café.example/hook"), "https://xn--caf-dma.example/hook");
  EXPECT_EQ(WithAsciiHost("https://CAFÉ.example:8443?x"), "https://xn--caf-dma.example:8443?x");
  EXPECT_EQ(WithAsciiHost("https://api.ñandú-1.example"), "https://api.xn--and-1-nta0e.example");
  EXPECT_EQ(WithAsciiHost("http://Пример.Испытание/"), "http://xn--e1afmkfd.xn--80akhbyknj4f/");
  EXPECT_EQ(WithAsciiHost("https://例え.example"), "https://xn--r8jz45g.example");
  EXPECT_EQ(WithAsciiHost("https://straße.example"), "https://xn--strae-oqa.example");
}

TEST(NetInternationalName, LeavesEverythingElseToTheReader) {
  for (const char* url :
       {"https://plain.example/x", "https://plain.example/café", "café.example", "https://",
        "https://cafe\u0301.example", "https://a\u200db.example", "https://a\u3002example",
        "https://\uff45xample.com", "https://\xff.example", "https://\u2044.example"}) {
    EXPECT_EQ(WithAsciiHost(url), url);
  }
}

}  // namespace
}  // namespace comanda::net
