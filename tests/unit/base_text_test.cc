#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

namespace comanda {
namespace {

TEST(Text, KnowsUtf8) {
  for (const char* text : {"", "plain", "\xc3\xb1", "\xe2\x82\xac", "\xf0\x9f\x8d\x95", "\x7f"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
}

TEST(Text, RefusesBrokenUtf8) {
  for (const char* text :
       {"\x80", "\xc3", "\xc3(", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xe2\x82", "\xed\xa0\x80",
        "\xf0\x80\x80\xaf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "ok \xf0\x9f\x8d"}) {
    EXPECT_FALSE(IsUtf8(text));
  }
}

TEST(Text, CountsCharactersNotBytes) {
  EXPECT_EQ(CharacterCount("\xc3\x91"
                           "and\xc3\xba"),
            5U);
  EXPECT_EQ(CharacterCount("\xf0\x9f\x8d\x95"), 1U);
}

TEST(Text, MakesEveryLineEndTheSame) {
  EXPECT_EQ(WithUnixLines("a\r\nb\rc\nd\r"), "a\nb\nc\nd\n");
  EXPECT_EQ(WithUnixLines("\r\r\n"), "\n\n");
}

TEST(Text, AllowsTabsAndLinesButNoOtherControls) {
  EXPECT_FALSE(HasForbiddenControl("two\nlines\tand \xc3\xb1"));
  EXPECT_TRUE(HasForbiddenControl(std::string_view("a\0b", 3)));
  EXPECT_TRUE(HasForbiddenControl("\x1b[31m"));
  EXPECT_TRUE(HasForbiddenControl("\x7f"));
  EXPECT_TRUE(HasForbiddenControl("\r"));
}

TEST(Text, FoldsCaseAccentsAndBlanks) {
  EXPECT_EQ(Folded("  \xc3\x91"
                   "and\xc3\xba \t CEVICHE\xc2\xa0"),
            "nandu ceviche");
  EXPECT_EQ(Folded("Çãõâêôøåüß Æon Œuvre"), "caoaeooauss aeon oeuvre");
  EXPECT_EQ(Folded("ÁÉÍÓÚ áéíóú Łódź Đorđe Þór İzmir ığdır"),
            "aeiou aeiou lodz dorde thor izmir igdir");
  EXPECT_EQ(Folded("Nguyễn Phở ẞ"), "nguyen pho ss");
}

TEST(Text, FoldsCombiningMarksLikeTheirLetters) {
  EXPECT_EQ(Folded("n\xcc\x83"
                   "andu\xcc\x81"),
            Folded("ñandú"));
}

TEST(Text, LeavesOtherScriptsAlone) {
  EXPECT_EQ(Folded("寿司 Sushi"), "寿司 sushi");
  EXPECT_EQ(Folded("3 × 2 ÷ 1"), "3 × 2 ÷ 1");
  EXPECT_EQ(Folded("\xff"), "\xff");
}

TEST(Text, ComparesAsciiWithoutCase) {
  EXPECT_EQ(AsciiLower("Content-TYPE Ñ"), "content-type Ñ");
  EXPECT_TRUE(AsciiEqualsIgnoreCase("If-Match", "if-match"));
  EXPECT_FALSE(AsciiEqualsIgnoreCase("If-Match", "if-matc"));
  EXPECT_FALSE(AsciiEqualsIgnoreCase("[", "{"));
}

TEST(Text, KeepsDigits) { EXPECT_EQ(Digits("+51 (987) 654-321 ext. 4"), "519876543214"); }

TEST(CardNumber, IsSeenInEveryUsualForm) {
  for (const char* text :
       {"4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111",
        "4111 - 1111 - 1111 - 1111", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "4111\xc2\xa0"
        "1111\xc2\xa0"
        "1111\xc2\xa0"
        "1111",
        "378282246310005", "3782 822463 10005", "341111111111111", "5555555555554444",
        "5105105105105100", "2221000000000009", "2720990000000007", "6011111111111117",
        "6200000000000000000", "4222222222222"}) {
    EXPECT_TRUE(LooksLikeCardNumber(text)) << text;
  }
}

TEST(CardNumber, IsSeenAmongOtherWords) {
  EXPECT_TRUE(LooksLikeCardNumber("visa:4111111111111111, exp 12/28"));
  EXPECT_TRUE(LooksLikeCardNumber("table 12 4111 1111 1111 1111"));
  EXPECT_TRUE(LooksLikeCardNumber("4111 1111 1111 1111 123"));
  EXPECT_TRUE(LooksLikeCardNumber("call +51 987 654 321, card 4111111111111111"));
}

TEST(CardNumber, NeedsLuhnLengthAndBeginning) {
  for (const char* text : {"4111111111111112",      // Luhn
                           "411111111117",          // 12 digits
                           "41111111111111111115",  // 20 digits in a row
                           "1111111111111117",      // begins like none
                           "3530111333300000",      // begins with 35
                           "5018000000000009",      // begins with 50
                           "5610591081018250",      // begins with 56
                           "2220000000000000",      // just below 2221
                           "2721000000000004",      // just above 2720
                           ""}) {
    EXPECT_FALSE(LooksLikeCardNumber(text)) << text;
  }
}

TEST(CardNumber, IsNotMistakenForDatesPhonesAndSums) {
  for (const char* text : {"2026-11-20 18:03", "+54 9 11 1234-5679", "+55 11 91234-5676",
                           "+5491112345679", "Av. Larco 1234, dpto 501", "auth 004512 lote 000123",
                           "12.50 + 7.50 = 20.00", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"}) {
    EXPECT_FALSE(LooksLikeCardNumber(text)) << text;
  }
}

TEST(CardNumber, IsNotAPhoneWithAPlusEvenWhereLuhnPasses) {
  ASSERT_TRUE(LooksLikeCardNumber("5511912345676"));
  EXPECT_FALSE(LooksLikeCardNumber("+5511912345676"));
  EXPECT_FALSE(LooksLikeCardNumber("+55 11 91234-5676"));
  EXPECT_TRUE(LooksLikeCardNumber("+4111111111111111"));
}

TEST(CardNumber, LinesKeepNumbersApart) {
  EXPECT_FALSE(LooksLikeCardNumber("41111111\n11111111"));
  EXPECT_FALSE(LooksLikeCardNumber("41111111    11111111"));
}

TEST(Text, FindsTheNearestWord) {
  constexpr std::array<std::string_view, 3> kWords = {"per_page", "page", "filter[status]"};
  EXPECT_EQ(Nearest("perpage", kWords), "per_page");
  EXPECT_EQ(Nearest("pgae", kWords), "page");
  EXPECT_EQ(Nearest("filter[statsu]", kWords), "filter[status]");
  EXPECT_EQ(Nearest("cursor_token", kWords), "");
  EXPECT_EQ(Nearest("foo", std::array<std::string_view, 1>{"sort"}), "");
  EXPECT_EQ(Nearest(std::string(100'000, 'x'), kWords), "");
}

TEST(Text, CountsEdits) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(EditDistance("combo", "combos"), 1U);
}

}  // namespace
}  // namespace comanda
