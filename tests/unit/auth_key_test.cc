#include "auth/key.h"

#include <gtest/gtest.h>

namespace comanda::auth {
namespace {

const std::string kZeros(32, '0');

TEST(AuthKey, EndsInTheChecksumOfEverythingBefore) {
  EXPECT_EQ(CompleteKey("cmd", Mode::kTest, kZeros),
            "cmd_test_00000000000000000000000000000000370VcH");
}

TEST(AuthKey, HasTheFormOfItsModeAndNeverComesTwice) {
  const std::string key = MakeKey("cmd", Mode::kLive);
  EXPECT_EQ(key.size(), 47u);
  EXPECT_TRUE(key.starts_with("cmd_live_"));
  EXPECT_EQ(ModeOfKey(key), Mode::kLive);
  EXPECT_NE(key, MakeKey("cmd", Mode::kLive));
}

TEST(AuthKey, NamesItsModeWithAnyPrefix) {
  EXPECT_EQ(ModeOfKey(CompleteKey("pos_two", Mode::kTest, kZeros)), Mode::kTest);
}

TEST(AuthKey, IsNoKeyWhenMistypedOrCut) {
  const std::string key = "cmd_test_00000000000000000000000000000000370VcH";
  EXPECT_EQ(ModeOfKey(key), Mode::kTest);
  for (size_t i = 0; i < key.size(); ++i) {
    std::string wrong = key;
    wrong[i] = wrong[i] == '7' ? '8' : '7';
    EXPECT_EQ(ModeOfKey(wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(ModeOfKey(key.substr(0, 46)), std::nullopt);
  EXPECT_EQ(ModeOfKey(""), std::nullopt);
  EXPECT_EQ(ModeOfKey(CompleteKey("", Mode::kLive, kZeros)), std::nullopt);
}

}  // namespace
}  // namespace comanda::auth
