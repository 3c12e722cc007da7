#include "cloud/orders/pairing.h"

#include <gtest/gtest.h>

namespace comanda::cloud {
namespace {

// A person with the keys of cloud/restaurant/restaurant_rows.h.
KeyedRow Person(std::string id, std::string_view email, std::string_view phone,
                std::string_view name) {
  return {.id = std::move(id), .keys = {EmailKey(email), PhoneKey("+51", phone), NameKey(name)}};
}

// The ids here of the rows of the cloud; "-" for none.
std::vector<std::string> Paired(const std::vector<KeyedRow>& cloud,
                                const std::vector<KeyedRow>& box) {
  std::vector<std::string> ids;
  for (const auto& pair : Pair(cloud, box)) ids.push_back(pair ? box[*pair].id : "-");
  return ids;
}

using Ids = std::vector<std::string>;

TEST(CloudPairing, PairsByIdBeforeAnyOtherKey) {
  EXPECT_EQ(Paired({Person("1", "ana@x.pe", "", "Ana"), Person("2", "", "", "Eva")},
                   {Person("b", "ana@x.pe", "", "Ana"), Person("1", "eva@x.pe", "", "Eva")}),
            Ids({"1", "-"}));
}

TEST(CloudPairing, PairsByEmailThenPhoneThenName) {
  EXPECT_EQ(Paired({Person("1", "", "", "Ana Ñu"), Person("2", "", "987 654-321", "B"),
                    Person("3", "EVA@x.pe", "", "C")},
                   {Person("e", "eva@x.pe", "", "Eva"), Person("p", "", "987654321", "Luis"),
                    Person("n", "", "", " ana  nu")}),
            Ids({"n", "p", "e"}));
}

TEST(CloudPairing, LetsAStrongerKeyTakeTheRowWhateverTheOrder) {
  EXPECT_EQ(Paired({Person("1", "", "", "Ana"), Person("2", "ana@x.pe", "", "Ana María")},
                   {Person("b", "ana@x.pe", "", "Ana")}),
            Ids({"-", "b"}));
}

TEST(CloudPairing, TakesTwoPeopleOfOneNameForTwoWhereAStrongerKeySaysSo) {
  EXPECT_EQ(Paired({Person("1", "ana@x.pe", "", "Ana")}, {Person("b", "ana@y.pe", "", "Ana")}),
            Ids({"-"}));
  EXPECT_EQ(Paired({Person("1", "", "987654321", "Ana")}, {Person("b", "", "987654322", "Ana")}),
            Ids({"-"}));
  EXPECT_EQ(Paired({Person("1", "", "987654321", "Ana")}, {Person("b", "ana@x.pe", "", "ANA")}),
            Ids({"b"}));
}

TEST(CloudPairing, UsesEachRowOfTheBoxOnce) {
  EXPECT_EQ(
      Paired({Person("1", "", "", "Ana"), Person("2", "", "", "Ana"), Person("3", "", "", "Ana")},
             {Person("a", "", "", "Ana"), Person("b", "", "", "Ana")}),
      Ids({"a", "b", "-"}));
}

TEST(CloudPairing, DoesNotPairWhatHasNoKey) {
  EXPECT_EQ(Paired({Person("1", "", "", "")}, {Person("a", "", "", "")}), Ids({"-"}));
  EXPECT_TRUE(PhoneKey("+51", "").empty());
  EXPECT_TRUE(EmailKey("  ").empty());
  EXPECT_TRUE(Pair({}, {}).empty());
}

TEST(CloudPairing, PairsAProductByAnyOfItsSkus) {
  const KeyedRow cloud{.id = "1", .keys = {{"S", "L"}, NameKey("Vino tinto")}};
  const KeyedRow box{.id = "b", .keys = {{"L", "XL"}, NameKey("Vino")}};
  EXPECT_EQ(Paired({cloud}, {box}), Ids({"b"}));
}

}  // namespace
}  // namespace comanda::cloud
