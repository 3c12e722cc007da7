#include "clients/search.h"

#include <gtest/gtest.h>

namespace comanda::clients {
namespace {

using Words = std::vector<std::string>;

TEST(ClientSearch, CutsWordsAtAllThatIsNeitherLetterNorDigit) {
  EXPECT_EQ(WordsOf("Íñigo  Peña-Zúñiga"), (Words{"inigo", "pena", "zuniga"}));
  EXPECT_EQ(WordsOf("Grupo Ñandú S. A. C."), (Words{"grupo", "nandu", "s", "a", "c"}));
  EXPECT_EQ(WordsOf("D'Angelo «Bar» – 24h…"), (Words{"d", "angelo", "bar", "24h"}));
  EXPECT_EQ(WordsOf("a_b/c@d.e"), (Words{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(WordsOf(" .-– "), (Words{}));
  EXPECT_EQ(WordsOf(""), (Words{}));
}

TEST(ClientSearch, KeepsLettersOfOtherScripts) {
  EXPECT_EQ(WordsOf("Мария Ли"), (Words{"Мария", "Ли"}));
  EXPECT_EQ(WordsOf("王 芳"), (Words{"王", "芳"}));
}

TEST(ClientSearch, IgnoresAccentsThatAreMarksOfTheirOwn) {
  EXPECT_EQ(WordsOf("Jose\xcc\x81"), (Words{"jose"}));
}

TEST(ClientSearch, FindsAClientByEachWordOfNameAndEmailOnce) {
  EXPECT_EQ(SearchWords("Ana María Quiñones", "ana.quinones@correo.example"),
            (Words{"ana", "correo", "example", "maria", "quinones"}));
  EXPECT_EQ(SearchWords("Ana", std::nullopt), (Words{"ana"}));
}

TEST(ClientSearch, TurnsTheWholeNumberAround) {
  EXPECT_EQ(ReversedPhone("+51", "987654321"), "12345678915");
  EXPECT_EQ(ReversedPhone(std::nullopt, "123"), "321");
  EXPECT_EQ(ReversedPhone("+51", std::nullopt), std::nullopt);
}

TEST(ClientSearch, TakesAWordForABeginning) {
  EXPECT_EQ(ReadTerms("Peñ JOS"), (std::vector<Term>{{"pen", {}}, {"jos", {}}}));
}

TEST(ClientSearch, TakesDigitsForTheEndOfAPhoneNumberOrABeginning) {
  EXPECT_EQ(ReadTerms("321"), (std::vector<Term>{{"321", "123"}}));
  EXPECT_EQ(ReadTerms("24h"), (std::vector<Term>{{"24h", {}}}));
}

TEST(ClientSearch, TakesGroupsOfDigitsInARowForOneNumber) {
  const std::string whole = "12345678915";
  EXPECT_EQ(ReadTerms("+51 987-654 321"),
            (std::vector<Term>{{"51", whole}, {"987", whole}, {"654", whole}, {"321", whole}}));
  EXPECT_EQ(ReadTerms("12 ana 34 5"),
            (std::vector<Term>{{"12", "21"}, {"ana", {}}, {"34", "543"}, {"5", "543"}}));
}

TEST(ClientSearch, FindsNothingToLookForInMarksAlone) { EXPECT_EQ(ReadTerms("+ - ¿?").size(), 0U); }

}  // namespace
}  // namespace comanda::clients
