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

TEST(Hash, ComparesWholeTexts) {
  EXPECT_TRUE(ConstantTimeEquals("", ""));
  EXPECT_TRUE(ConstantTimeEquals("secret", "secret"));
  EXPECT_FALSE(ConstantTimeEquals("secret", "secreT"));
  EXPECT_FALSE(ConstantTimeEquals("Secret", "secret"));
  EXPECT_FALSE(ConstantTimeEquals("secret", "secret "));
  EXPECT_FALSE(ConstantTimeEquals(std::string_view("a\0b", 3), std::string_view("a\0c", 3)));
}

TEST(Hash, LinksALongTermReleaseOfTheLibrary) { EXPECT_EQ(LibraryVersion().substr(0, 4), "3.6."); }

TEST(Hash, InitialisesAsOftenAsOneLikes) {
  Initialise();
  Initialise();
}

}  // namespace
}  // namespace comanda::crypto
