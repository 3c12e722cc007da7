#include "wire/coding.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/gzip.h"

namespace comanda::wire {
namespace {

TEST(WireCoding, GivesGzipToWhoAsksForIt) {
  for (const char* wish :
       {"gzip", "GZIP", "x-gzip", "gzip, deflate, br, zstd", "deflate,gzip;q=0.001", "br;q=1.0, *",
        "gzip;q=0.5, *;q=0", "identity;q=0, gzip", "gzip ; Q=1", "identity, gzip", "*",
        "gzip;q=1.000", "gzip;q=1.", "identity;q=0.2 , gzip;q=0.3", ",,gzip,"}) {
    EXPECT_TRUE(PrefersGzip(wish)) << wish;
  }
}

TEST(WireCoding, GivesTheBytesAsTheyAreToEveryoneElse) {
  for (const char* wish : {"",
                           " ",
                           ",",
                           "identity",
                           "deflate, br",
                           "gzip;q=0",
                           "gzip;q=0.000",
                           "*;q=0",
                           "*;q=0, br",
                           "gzip;q=0, *",
                           "gzip;q=0.5, identity",
                           "gzip;q=0.5, identity;q=0.6",
                           "gzipped",
                           "gz ip",
                           "gzip;q=2",
                           "gzip;q=1.001",
                           "gzip;q=-1",
                           "gzip;q=",
                           "gzip;q=0.1234",
                           "gzip;q=a",
                           "gzip;level=9",
                           "gzip;q=1;q=1",
                           "identity;q=0"}) {
    EXPECT_FALSE(PrefersGzip(wish)) << wish;
  }
}

TEST(WireCoding, CompressesABodyAndLeavesTheRest) {
  Response plain;
  plain.shared_body = std::make_shared<const std::string>(5'000, 'x');
  plain.etag = "W/\"1\"";
  plain.headers.emplace_back("X-Snapshot", "7");

  Response small = plain;
  Compress(small);

  EXPECT_TRUE(small.gzipped);
  EXPECT_LT(small.Body().size(), 100u);
  EXPECT_EQ(Gunzip({reinterpret_cast<const uint8_t*>(small.Body().data()), small.Body().size()}),
            *plain.shared_body);
  EXPECT_EQ(small.etag, plain.etag);
  EXPECT_EQ(small.headers, plain.headers);
}

TEST(WireCodingDeathTest, TwoFormsNeverShareAStrongTag) {
  Response plain;
  plain.etag = "\"1.1\"";

  EXPECT_DEATH(Compress(plain), "");
}

}  // namespace
}  // namespace comanda::wire
