#include "crypto/hash.h"

#include <gtest/gtest.h>

namespace comanda::crypto {
namespace {

TEST(Hash, GivesTheStandardsVectorsOfSha256) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Hash, WritesHexInLowerCase) { EXPECT_EQ(Hex(std::string_view("\x00\xff\x1a", 3)), "00ff1a"); }

TEST(Hash, GivesTheStandardsVectorsOfBase64) {
  const auto encoded = [](std::string_view text) {
    return Base64({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  };
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encoded("\xfb\xff"), "+/8=");
}

TEST(Hash, LinksALongTermReleaseOfTheLibrary) { EXPECT_EQ(LibraryVersion().substr(0, 4), "3.6."); }

TEST(Hash, InitialisesAsOftenAsOneLikes) {
  Initialise();
  Initialise();
}

}  // namespace
}  // namespace comanda::crypto
