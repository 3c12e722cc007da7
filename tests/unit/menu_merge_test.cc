#include "menu/merge.h"

#include <gtest/gtest.h>

#include "menu/fields.h"

namespace comanda::menu {
namespace {

// Sets a field as a caller sends it.
template <typename Row, typename T, typename Value>
void Send(Row& row, T Row::*field, Value value) {
  row.*field = std::move(value);
  row.sent.fields |= BitOf(field);
}

Variant Sized(std::string name, Minor price) {
  Variant sent;
  sent.id = "fresh-" + name;
  Send(sent, &Variant::name, name);
  Send(sent, &Variant::price, price);
  return sent;
}

Variant Only(Minor price) {
  Variant sent;
  sent.id = "fresh";
  sent.name = kOnlyVariant;
  sent.sent.shorthand = true;
  Send(sent, &Variant::price, price);
  return sent;
}

// Two sizes, each with a sku.
Product Pizza() {
  Product product;
  product.id = "pizza";
  product.name = "Pizza";
  product.slug = "pizza";
  product.variants = {{.id = "s", .name = "Small", .sku = "P-S", .price = 1000, .position = 0},
                      {.id = "l", .name = "Large", .sku = "P-L", .price = 2000, .position = 1}};
  return product;
}

Targets MergeWell(const Product& sent, bool is_new, Product& product,
                  const Form& form = kPutProducts) {
  json::Errors errors;
  Targets targets = Merge(sent, form, is_new, product, errors);
  EXPECT_NO_THROW(errors.ThrowIfAny());
  return targets;
}

// Field and code of the one thing that is wrong.
std::pair<std::string, FieldCode> Wrong(const Product& sent, bool is_new, Product product,
                                        const Form& form = kPutProducts) {
  json::Errors errors;
  Merge(sent, form, is_new, product, errors);
  try {
    errors.ThrowIfAny();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.errors.size(), 1u);
    return {refusal.errors.front().field, refusal.errors.front().code};
  }
  ADD_FAILURE() << "nothing is wrong";
  return {};
}

TEST(MenuMerge, KeepsWhatWasNotSent) {
  Product product = Pizza();
  product.description = "Thin";
  Product sent;
  Send(sent, &Product::visible, false);

  MergeWell(sent, false, product);

  Product expected = Pizza();
  expected.description = "Thin";
  expected.visible = false;
  EXPECT_EQ(product, expected);
}

TEST(MenuMerge, ClearsWhatWasSentAsNothing) {
  Product product = Pizza();
  product.description = "Thin";
  Product sent;
  Send(sent, &Product::description, std::nullopt);

  MergeWell(sent, false, product);

  EXPECT_EQ(product.description, std::nullopt);
}

TEST(MenuMerge, GivesANewProductASlugAndOneVariant) {
  Product product;
  Product sent;
  Send(sent, &Product::name, "Ají de gallina");
  sent.variants = {Only(1850)};

  EXPECT_EQ(MergeWell(sent, true, product), Targets{0});

  EXPECT_EQ(product.slug, "aji-de-gallina");
  ASSERT_EQ(product.variants.size(), 1u);
  EXPECT_EQ(product.variants[0].name, kOnlyVariant);
  EXPECT_EQ(product.variants[0].id, "fresh");
  EXPECT_EQ(product.variants[0].price, 1850);
}

TEST(MenuMerge, KeepsTheSlugOfARenamedProduct) {
  Product product = Pizza();
  Product sent;
  Send(sent, &Product::name, "Calzone");
  MergeWell(sent, false, product);
  EXPECT_EQ(product.slug, "pizza");
}

TEST(MenuMerge, MatchesVariantsByIdThenSkuThenName) {
  Product product = Pizza();
  Product sent;
  Variant by_id = Sized("Large", 1);  // its id says Small
  by_id.id = "s";
  by_id.sent.has_id = true;
  Variant by_sku = Sized("Huge", 2);
  Send(by_sku, &Variant::sku, "P-L");
  sent.variants = {by_id, by_sku};

  EXPECT_EQ(MergeWell(sent, false, product), (Targets{0, 1}));
  EXPECT_EQ(product.variants[0].name, "Large");
  EXPECT_EQ(product.variants[1].name, "Huge");

  Product by_name;
  by_name.variants = {Sized("HUGE", 3)};
  EXPECT_EQ(MergeWell(by_name, false, product), Targets{1});
}

TEST(MenuMerge, AppendsAVariantThatMatchesNone) {
  Product product = Pizza();
  Product sent;
  sent.variants = {Sized("Giant", 3000)};

  EXPECT_EQ(MergeWell(sent, false, product), Targets{2});

  EXPECT_EQ(product.variants[2].id, "fresh-Giant");
  EXPECT_EQ(product.variants[2].position, 2);
}

TEST(MenuMerge, TakesTwoVariantsOfOneNameWhereEachHasASku) {
  Product product = Pizza();
  Product sent;
  sent.variants = {Sized("Small", 1), Sized("Small", 2)};
  Send(sent.variants[1], &Variant::sku, "P-OTHER");
  EXPECT_EQ(MergeWell(sent, false, product), (Targets{0, 2}));
}

TEST(MenuMerge, RefusesTwoRowsThatHitOneVariant) {
  Product sent;
  sent.variants = {Sized("Small", 1), Sized("small", 2)};
  sent.variants[1].sent.path = "variants[1]";
  EXPECT_EQ(Wrong(sent, false, Pizza()),
            std::pair(std::string("variants[1].name"), FieldCode::kDuplicate));
}

TEST(MenuMerge, TakesTheShorthandForTheOneVariantAlone) {
  Product sent;
  sent.variants = {Only(5)};
  EXPECT_EQ(Wrong(sent, false, Pizza()), std::pair(std::string("price"), FieldCode::kNotAllowed));

  Product product = Pizza();
  product.variants.pop_back();
  EXPECT_EQ(MergeWell(sent, false, product), Targets{0});
  EXPECT_EQ(product.variants[0].name, "Small");
  EXPECT_EQ(product.variants[0].price, 5);
}

TEST(MenuMerge, TakesTheShorthandForTheVariantThatItsSkuNames) {
  Product product = Pizza();
  Product sent;
  sent.variants = {Only(5)};
  Send(sent.variants[0], &Variant::sku, "P-L");
  EXPECT_EQ(MergeWell(sent, false, product), Targets{1});
  EXPECT_EQ(product.variants[1].price, 5);
}

TEST(MenuMerge, NeverMatchesAVariantThatMustBeNew) {
  Product sent;
  sent.variants = {Sized("Small", 1)};
  EXPECT_EQ(Wrong(sent, false, Pizza(), kPostVariant),
            std::pair(std::string("name"), FieldCode::kDuplicate));
}

TEST(MenuMerge, RequiresWhatANewRowNeeds) {
  Product nameless;
  nameless.variants = {Only(1)};
  EXPECT_EQ(Wrong(nameless, true, {}), std::pair(std::string("name"), FieldCode::kRequired));

  Product priceless;
  Send(priceless, &Product::name, "Pizza");
  EXPECT_EQ(Wrong(priceless, true, {}), std::pair(std::string("price"), FieldCode::kRequired));
}

ModifierCategory Sauces() {
  ModifierCategory sent;
  sent.id = "sauces";
  Send(sent, &ModifierCategory::name, "Sauces");
  return sent;
}

Modifier Named(std::string id, std::string name) {
  Modifier sent;
  sent.id = std::move(id);
  Send(sent, &Modifier::name, std::move(name));
  return sent;
}

TEST(MenuMerge, DerivesTheCountsOfANewModifierCategory) {
  Product product = Pizza();
  Product sent;
  sent.modifier_categories = {Sauces()};
  Send(sent.modifier_categories[0], &ModifierCategory::type, "one");
  Send(sent.modifier_categories[0], &ModifierCategory::required, true);
  sent.modifier_categories[0].modifiers = {Named("hot", "Hot")};

  MergeWell(sent, false, product);

  EXPECT_EQ(product.modifier_categories[0].min_modifiers, 1);
  EXPECT_EQ(product.modifier_categories[0].max_modifiers, 1);
}

TEST(MenuMerge, ChangesNothingTheSecondTime) {
  Product product = Pizza();
  Product sent;
  sent.variants = {Sized("Giant", 3000), Sized("Small", 900)};
  sent.modifier_categories = {Sauces()};
  Send(sent.modifier_categories[0], &ModifierCategory::required, true);
  sent.modifier_categories[0].modifiers = {Named("hot", "Hot")};

  MergeWell(sent, false, product);
  const Product once = product;
  MergeWell(sent, false, product);

  EXPECT_EQ(product, once);
  ASSERT_EQ(once.modifier_categories.size(), 1u);
  EXPECT_EQ(once.modifier_categories[0].modifiers[0].id, "hot");
}

TEST(MenuMerge, MatchesGroupsOfOneNameByTheirOrder) {
  Product product = Pizza();
  Product sent;
  sent.modifier_categories = {Sauces(), Sauces()};
  sent.modifier_categories[1].id = "sauces of the other half";

  MergeWell(sent, false, product);
  const Product once = product;
  for (ModifierCategory& group : sent.modifier_categories) group.id += " sent again";
  MergeWell(sent, false, product);
  EXPECT_EQ(product, once);
  ASSERT_EQ(once.modifier_categories.size(), 2u);

  // A row that another one names by its id is not taken for the first of its name.
  Product named;
  named.modifier_categories = {Sauces(), Sauces()};
  named.modifier_categories[0].id = "new";
  named.modifier_categories[1].sent.has_id = true;
  Send(named.modifier_categories[1], &ModifierCategory::is_active, false);
  MergeWell(named, false, product);
  EXPECT_FALSE(product.modifier_categories[0].is_active);
  EXPECT_TRUE(product.modifier_categories[1].is_active);
}

TEST(MenuMerge, TakesAGroupThatNobodyCanSatisfyFromTheCloudAlone) {
  Product sent;
  Send(sent, &Product::name, "Pizza");
  sent.variants = {Sized("Small", 1000)};
  sent.modifier_categories = {Sauces()};
  Send(sent.modifier_categories[0], &ModifierCategory::min_modifiers, 2);
  sent.modifier_categories[0].modifiers = {Named("hot", "Hot")};
  const auto wrong = std::pair(std::string("min_modifiers"), FieldCode::kOutOfRange);
  EXPECT_EQ(Wrong(sent, true, {}), wrong);
  EXPECT_EQ(Wrong(sent, true, {}, kImportFile), wrong);

  Product product;
  MergeWell(sent, true, product, kCloudRecords);
  MergeWell(sent, false, product);  // sent back as it is

  Send(sent.modifier_categories[0].modifiers[0], &Modifier::max_limit, 2);
  MergeWell(sent, false, product);
}

TEST(MenuMerge, RefusesMoreModifiersThanPossibleOnTheMergedRow) {
  Product product = Pizza();
  product.modifier_categories = {{.id = "x", .name = "Sauces", .max_modifiers = 2}};
  Product sent;
  sent.modifier_categories = {Sauces()};
  Send(sent.modifier_categories[0], &ModifierCategory::min_modifiers, 3);
  EXPECT_EQ(Wrong(sent, false, product),
            std::pair(std::string("min_modifiers"), FieldCode::kOutOfRange));
}

TEST(MenuMerge, GivesARowOfAFileItsDefaultsAndLeavesTheStock) {
  Product product = Pizza();
  product.description = "Thin";
  product.variants[0].cost = 300;
  product.variants[0].stock = 5000;
  Product sent;
  Send(sent, &Product::name, "Pizza");
  sent.variants = {Sized("Small", 1000)};
  sent.variants[0].id = "s";

  MergeWell(sent, false, product, kImportFile);

  EXPECT_EQ(product.description, std::nullopt);
  EXPECT_EQ(product.slug, "pizza");
  EXPECT_EQ(product.variants[0].sku, std::nullopt);
  EXPECT_EQ(product.variants[0].cost, std::nullopt);
  EXPECT_EQ(product.variants[0].stock, 5000);
  EXPECT_EQ(product.variants[1], Pizza().variants[1]) << "a row that the file leaves out stays";
}

TEST(MenuMerge, MatchesRowsOfAFileByTheirIdsAlone) {
  Product product = Pizza();
  Product sent;
  Send(sent, &Product::name, "Pizza");
  sent.variants = {Sized("Large", 1)};

  EXPECT_EQ(MergeWell(sent, false, product, kImportFile), Targets{2});
}

TEST(MenuFields, NamesEveryFieldOnce) {
  uint32_t seen = 0;
  ForEachField<Variant>([&](auto field, uint32_t bit) {
    EXPECT_EQ(BitOf(field), bit);
    EXPECT_EQ(seen & bit, 0u);
    seen |= bit;
  });
  EXPECT_EQ(seen, (1u << std::tuple_size_v<decltype(Variant::Fields())>)-1);
}

}  // namespace
}  // namespace comanda::menu
