#include "clients/search.h"

#include <gtest/gtest.h>

#include "clients/client_set.h"

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
  EXPECT_EQ(ReadTerms("Peñ JOS"), (std::vector<Term>{{{"pen"}, ""}, {{"jos"}, ""}}));
}

TEST(ClientSearch, TakesDigitsForTheEndOfAPhoneNumberOrABeginning) {
  EXPECT_EQ(ReadTerms("321"), (std::vector<Term>{{{"321"}, "123"}}));
  EXPECT_EQ(ReadTerms("24h"), (std::vector<Term>{{{"24h"}, ""}}));
}

TEST(ClientSearch, TakesGroupsOfDigitsInARowForOneNumber) {
  EXPECT_EQ(ReadTerms("+51 987-654 321"),
            (std::vector<Term>{{{"51", "987", "654", "321"}, "12345678915"}}));
  EXPECT_EQ(ReadTerms("12 ana 34 5"),
            (std::vector<Term>{{{"12"}, "21"}, {{"ana"}, ""}, {{"34", "5"}, "543"}}));
}

TEST(ClientSearch, FindsNothingToLookForInMarksAlone) { EXPECT_EQ(ReadTerms("+ - ¿?").size(), 0U); }

TEST(ClientSearch, PutsTheEndOfAPrefixBehindAllThatBeginWithIt) {
  EXPECT_LT("ana", BehindPrefix("ana"));
  EXPECT_LT("anaz", BehindPrefix("ana"));
  EXPECT_LT("ana\xf0\x9f\x8d\xa3", BehindPrefix("ana"));
  EXPECT_GT("anb", BehindPrefix("ana"));
}

ClientSet SetOf(std::initializer_list<int64_t> seqs) {
  ClientSet set;
  for (const int64_t seq : seqs) set.Add(seq);
  return set;
}

TEST(ClientSets, HoldEachMemberOnceInOrder) {
  const ClientSet set = SetOf({200, 1, 64, 63, 1});

  EXPECT_EQ(set.Members(), (std::vector<int64_t>{1, 63, 64, 200}));
  EXPECT_EQ(set.Count(), 4);
  EXPECT_TRUE(set.Has(64));
  EXPECT_FALSE(set.Has(65));
  EXPECT_FALSE(set.Has(100'000));
}

TEST(ClientSets, KeepWhatBothHave) {
  ClientSet set = SetOf({1, 64, 200});
  set.Intersect(SetOf({64, 3}));
  EXPECT_EQ(set.Members(), (std::vector<int64_t>{64}));
  set.Intersect(ClientSet());
  EXPECT_EQ(set.Count(), 0);
}

TEST(ClientSets, EndAtASnapshot) {
  for (const auto& [last, count] :
       {std::pair(0, 0), std::pair(62, 1), std::pair(63, 2), std::pair(64, 3), std::pair(199, 3),
        std::pair(200, 4), std::pair(100'000, 4)}) {
    ClientSet set = SetOf({1, 63, 64, 200});
    set.KeepUpTo(last);
    EXPECT_EQ(set.Count(), count) << last;
  }
}

}  // namespace
}  // namespace comanda::clients
