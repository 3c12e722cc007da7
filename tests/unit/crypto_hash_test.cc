#include "crypto/hash.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/problem.h"

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

TEST(Hash, WritesBase64ForUrlsWithoutWhatUrlsEscape) {
  EXPECT_EQ(Base64UrlOf(""), "");
  EXPECT_EQ(Base64UrlOf("Zm8="), "Zm8");
  EXPECT_EQ(Base64UrlOf("//+/A+=="), "__-_A-");
}

TEST(Hash, ReadsBase64Back) {
  for (const char* wrong : {"A", "Zg", "Zg=", "Zg==x", "Z*==", "=", "====", "Zg===", "Zm9-"}) {
    EXPECT_THROW(FromBase64(wrong), Fault) << wrong;
  }
  EXPECT_EQ(FromBase64(""), "");
  EXPECT_EQ(FromBase64("Zg=="), "f");
  EXPECT_EQ(FromBase64("Zm9vYmFy"), "foobar");
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    const std::string text = Base64({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    EXPECT_EQ(FromBase64(text), bytes) << text;
    bytes += static_cast<char>(i);
  }
}

TEST(Hash, GivesTheVectorsOfRfc4231ForHmac) {
  struct Row {
    std::string key, data;
    std::string_view hmac;
  };
  std::string counted;
  for (char byte = 1; byte <= 25; ++byte) counted += byte;
  const std::vector<Row> rows = {
      {std::string(20, '\x0b'), "Hi There",
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {"Jefe", "what do ya want for nothing?",
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {std::string(20, '\xaa'), std::string(50, '\xdd'),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {counted, std::string(50, '\xcd'),
       "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
      {std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First",
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {std::string(131, '\xaa'),
       "This is a test using a larger than block-size key and a larger than block-size data. The "
       "key needs to be hashed before being used by the HMAC algorithm.",
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
  };
  for (const Row& row : rows) {
    const Sha256Digest digest = HmacSha256(row.key, row.data);
    EXPECT_EQ(Hex({reinterpret_cast<const char*>(digest.data()), digest.size()}), row.hmac);
  }
}

TEST(Hash, LinksALongTermReleaseOfTheLibrary) { EXPECT_EQ(LibraryVersion().substr(0, 4), "3.6."); }

TEST(Hash, InitialisesAsOftenAsOneLikes) {
  Initialise();
  Initialise();
}

}  // namespace
}  // namespace comanda::crypto
