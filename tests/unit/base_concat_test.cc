#include "base/concat.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace comanda {
namespace {

TEST(BaseConcat, PutsTextsCharactersAndIntegersTogether) {
  const std::string room = "terrace";
  EXPECT_EQ(Concat({"table ", 12, " of ", room, '!', std::string_view("?")}),
            "table 12 of terrace!?");
}

TEST(BaseConcat, WritesTheWholeRangeOfIntegers) {
  EXPECT_EQ(
      Concat({std::numeric_limits<int64_t>::min(), ' ', std::numeric_limits<uint64_t>::max()}),
      "-9223372036854775808 18446744073709551615");
  EXPECT_EQ(Concat({uint8_t{7}, int8_t{-7}}), "7-7");
}

TEST(BaseConcat, KeepsNulAndEmptyPieces) {
  EXPECT_EQ(Concat({}), "");
  EXPECT_EQ(Concat({"", std::string_view("a\0b", 3), ""}), std::string("a\0b", 3));
}

}  // namespace
}  // namespace comanda
