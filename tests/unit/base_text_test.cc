#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

namespace comanda {
namespace {

TEST(Text, CutsWhatStandsAroundACode) {
  EXPECT_EQ(TrimmedCode("CEV-1"), "CEV-1");
  EXPECT_EQ(TrimmedCode(" \t\r\nCEV 1\n"), "CEV 1");
  EXPECT_EQ(TrimmedCode("\u00a0\ufeffCEV-1\u200b\u2003"), "CEV-1");
  EXPECT_EQ(TrimmedCode("\x02"
                        "CEV-1\x03\x7f"),
            "CEV-1");
  EXPECT_EQ(TrimmedCode("ñ "), "ñ");
  EXPECT_EQ(TrimmedCode(" \n\u00a0"), "");
  EXPECT_EQ(TrimmedCode("\xff \xff"), "\xff \xff");
  EXPECT_EQ(TrimmedCode(""), "");
}

TEST(Text, ComparesCodesWithoutCase) {
  EXPECT_EQ(FoldedCode("\u00a0Cev-1\n"), "cev-1");
  EXPECT_EQ(FoldedCode(" "), "");
}

TEST(Text, KnowsWhatShowsNothing) {
  for (const char* text : {"", " ", "\t\n", "\u00a0\u2003", "\u200b", "\ufeff \u3000"}) {
    EXPECT_TRUE(IsBlank(text)) << text;
  }
  for (const char* text : {"a", " a ", "\x07", "\r", "\r\n", "\u200b.", "\xff", "\u0301"}) {
    EXPECT_FALSE(IsBlank(text)) << text;
  }
}

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

TEST(Text, MakesCrlfALineEndAndLeavesALoneCr) {
  EXPECT_EQ(WithUnixLines("a\r\nb\rc\nd\r"), "a\nb\rc\nd\r");
  EXPECT_EQ(WithUnixLines("\r\r\n"), "\r\n");
}

TEST(Text, AllowsTabsAndLinesButNoOtherControls) {
  EXPECT_FALSE(HasForbiddenControl("two\nlines\tand \xc3\xb1"));
  EXPECT_TRUE(HasForbiddenControl(std::string_view("a\0b", 3)));
  EXPECT_TRUE(HasForbiddenControl("\x1b[31m"));
  EXPECT_TRUE(HasForbiddenControl("\r"));
  EXPECT_FALSE(HasForbiddenControl("\x7f"));  // no C0 control
}

TEST(Text, KnowsEveryControlCharacter) {
  for (const char* text : {"a\nb", "\t", "\r", "\x1b[31m", "\x7f", "\xc2\x80", "\xc2\x9b"}) {
    EXPECT_TRUE(HasControl(text)) << text;
  }
  for (const char* text : {"", "Ñandú 寿司", "\xc2\xa0", "\xe2\x80\xae"}) {
    EXPECT_FALSE(HasControl(text)) << text;
  }
}

TEST(Text, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(Visible("Ñandú 寿司 \xf0\x9f\x8d\x95"), "Ñandú 寿司 \xf0\x9f\x8d\x95");
  EXPECT_EQ(Visible("a\nb\tc\rd"), "a\\nb\\tc\\u000dd");
  EXPECT_EQ(Visible("\x1b[2J"), "\\u001b[2J");
  EXPECT_EQ(Visible("\x7f"), "\\u007f");
  EXPECT_EQ(Visible("\xc2\x9b"), "\\u009b");
  EXPECT_EQ(Visible("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xd8\x9c"),
            "\\u202e\\u2066\\u2028\\u061c");
  EXPECT_EQ(Visible("\xff\xc3("), "\\xff\\xc3(");
  EXPECT_EQ(Visible(std::string_view("\0", 1)), "\\u0000");
  EXPECT_EQ(VisibleLines("one\ntwo\x1b\n"), "one\ntwo\\u001b\n");
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
        "4000000000000000006", "5018000000000009", "5610591081018250", "6759649826438453"}) {
    EXPECT_TRUE(LooksLikeCardNumber(text)) << text;
  }
}

TEST(CardNumber, IsSeenAmongOtherWords) {
  EXPECT_TRUE(LooksLikeCardNumber("visa:4111111111111111, exp 12/28"));
  EXPECT_TRUE(LooksLikeCardNumber("table 12 4111 1111 1111 1111"));
  EXPECT_TRUE(LooksLikeCardNumber("4111 1111 1111 1111 12/28"));
  EXPECT_TRUE(LooksLikeCardNumber("call +51 987 654 321, card 4111111111111111"));
  EXPECT_TRUE(LooksLikeCardNumber("hotel 4111111111111111"));
  EXPECT_TRUE(LooksLikeCardNumber("cancel 4111111111111111"));
}

TEST(CardNumber, NeedsLuhnAndTheLengthAndBeginningOfAScheme) {
  for (const char* text : {"4111111111111112",      // Luhn
                           "4222222222222",         // 13 digits, as no Visa has any more
                           "411111111111111118",    // 18 digits
                           "41111111111111111115",  // 20 digits in a row
                           "3411111111111110",      // 34 with 16
                           "5555555555554444000",   // 55 with 19
                           "6200000000000000000",   // 62 with 19
                           "1111111111111117",      // begins like none
                           "3530111333300000",      // begins with 35
                           "6811111111111119",      // just above 67
                           "5900000000000000",      // just above 58
                           "2220000000000000",      // just below 2221
                           "2721000000000004",      // just above 2720
                           ""}) {
    EXPECT_FALSE(LooksLikeCardNumber(text)) << text;
  }
}

TEST(CardNumber, IsNotMistakenForDatesPhonesAndSums) {
  for (const char* text :
       {"2026-11-20 18:03", "+54 9 11 1234-5679", "+55 11 91234-5676", "+5491112345679",
        "Av. Larco 1234, dpto 501", "auth 004512 lote 000123", "5511912345676",
        "12.50 + 7.50 = 20.00", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"}) {
    EXPECT_FALSE(LooksLikeCardNumber(text)) << text;
  }
}

TEST(CardNumber, IsAPhoneAfterTheWordsForOne) {
  ASSERT_TRUE(LooksLikeCardNumber("378282246310005"));
  for (const char* text :
       {"+378282246310005", "+ 378282246310005", "tel 378282246310005", "Tel.: 378282246310005",
        "TEL 3782 822463 10005", "cel:378282246310005", "WhatsApp 378282246310005",
        "teléfono: 378282246310005", "fono 378282246310005", "phone=(378282246310005)"}) {
    EXPECT_FALSE(LooksLikeCardNumber(text)) << text;
  }
}

TEST(CardNumber, HasSixteenDigitsInAReference) {
  EXPECT_TRUE(LooksLikeCardNumber("4111111111111111", CardDigits::kSixteen));
  EXPECT_FALSE(LooksLikeCardNumber("378282246310005", CardDigits::kSixteen));
  EXPECT_FALSE(LooksLikeCardNumber("4000000000000000006", CardDigits::kSixteen));
}

TEST(CardNumber, LinesKeepNumbersApart) {
  EXPECT_FALSE(LooksLikeCardNumber("41111111\n11111111"));
  EXPECT_FALSE(LooksLikeCardNumber("41111111    11111111"));
}

TEST(Text, EscapesWhatHtmlWouldRead) {
  EXPECT_EQ(HtmlEscaped("<a href=\"x\">1 & 2</a>"),
            "&lt;a href=&quot;x&quot;&gt;1 &amp; 2&lt;/a&gt;");
}

}  // namespace
}  // namespace comanda
