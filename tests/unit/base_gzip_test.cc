#include "base/gzip.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace comanda {
namespace {

// Made by zlib, with the choice of block that the name says.
constexpr std::array<uint8_t, 32> kStored = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x01, 0x09, 0x00, 0xf6, 0xff, 0x74,
    0x77, 0x6f, 0x20, 0x62, 0x65, 0x65, 0x72, 0x73, 0xe1, 0x36, 0x92, 0xe2, 0x09, 0x00, 0x00, 0x00,
};
constexpr std::array<uint8_t, 44> kFixed = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4b, 0x54, 0x28, 0x49, 0x4c,
    0xca, 0x49, 0x55, 0x48, 0xcb, 0x2f, 0x52, 0x28, 0x29, 0xcf, 0xd7, 0x51, 0x48, 0x44, 0x12,
    0x48, 0xcb, 0x2f, 0x2d, 0x02, 0x00, 0x12, 0x57, 0x85, 0x5d, 0x21, 0x00, 0x00, 0x00,
};
TEST(Gzip, CopiesWhatIsStored) { EXPECT_EQ(Gunzip(kStored), "two beers"); }

TEST(Gzip, ReadsFixedCodesAndRepetitions) {
  EXPECT_EQ(Gunzip(kFixed), "a table for two, a table for four");
}

TEST(Gzip, AFileFromOutsideIsReadUpToABound) {
  const std::string text(100'000, 'x');
  const std::string file = Gzip(text);
  EXPECT_LT(file.size(), 1'000U);
  EXPECT_EQ(GunzipAtMost(file, text.size()), text);
  EXPECT_EQ(GunzipAtMost(file, text.size() - 1), std::nullopt);
  EXPECT_EQ(GunzipAtMost("", 10), std::nullopt);
  EXPECT_EQ(GunzipAtMost("<html>this is no gzip</html>", 10'000), std::nullopt);
  for (size_t cut = 0; cut < file.size(); ++cut) {
    EXPECT_EQ(GunzipAtMost(std::string_view(file).substr(0, cut), text.size()), std::nullopt);
  }
  EXPECT_EQ(GunzipAtMost(file + "x", text.size() * 2), std::nullopt);
  std::string liar = file;  // says that it holds 16 bytes
  liar.replace(liar.size() - 4, 4, std::string("\x10\0\0\0", 4));
  EXPECT_EQ(GunzipAtMost(liar, text.size()), std::nullopt);
}

TEST(GzipDeathTest, ACutFileIsABrokenInvariant) {
  const std::span<const uint8_t> whole(kFixed);

  EXPECT_DEATH(Gunzip(whole.first(whole.size() / 2)), "");
  EXPECT_DEATH(Gunzip(whole.first(10)), "");
}

std::string Unpacked(const std::string& file) {
  return Gunzip({reinterpret_cast<const uint8_t*>(file.data()), file.size()});
}

std::string Again(std::string_view text) { return Unpacked(Gzip(text)); }

TEST(Gzip, GivesBackWhatItTook) {
  std::mt19937 luck(7);
  EXPECT_EQ(Again(""), "");
  for (size_t size = 1; size < 300'000; size = size * 3 / 2 + 1) {
    std::string noise(size, '\0'), words;
    for (char& c : noise) c = static_cast<char>(luck());
    while (words.size() < size) words += "{\"price\":" + std::to_string(luck() % 100) + '}';

    EXPECT_EQ(Again(noise), noise);
    EXPECT_EQ(Again(words), words);
    EXPECT_EQ(Again(std::string(size, 'a')), std::string(size, 'a'));
  }
}

TEST(Gzip, MakesAListMuchSmaller) {
  std::string list;
  for (int i = 0; i < 1'000; ++i)
    list += R"({"name":"Ceviche","price":)" + std::to_string(i) + "},";

  EXPECT_LT(Gzip(list).size() * 4, list.size());
  EXPECT_LT(GzipSmallest(list).size(), Gzip(list).size());
  EXPECT_EQ(Unpacked(GzipSmallest(list)), list);
}

TEST(Gzip, GivesTheCheckValueOfCrc32) {
  EXPECT_EQ(Crc32("123456789"), 0xcbf43926U);
  EXPECT_EQ(Crc32(""), 0U);
}

}  // namespace
}  // namespace comanda
