#include "menu/merge.h"

#include <gtest/gtest.h>

namespace comanda::menu {
namespace {

VariantPatch Sized(std::string name, Minor price) {
  VariantPatch patch;
  patch.fresh_id = "fresh-" + name;
  patch.name = std::move(name);
  patch.price = price;
  return patch;
}

VariantPatch Only(Minor price) {
  VariantPatch patch;
  patch.fresh_id = "fresh";
  patch.only = true;
  patch.price = price;
  return patch;
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

Targets MergeWell(const ProductPatch& patch, bool is_new, Product& product) {
  json::Errors errors;
  Targets targets = Merge(patch, is_new, product, errors);
  EXPECT_NO_THROW(errors.ThrowIfAny());
  return targets;
}

// Field and code of the one thing that is wrong.
std::pair<std::string, FieldCode> Wrong(const ProductPatch& patch, bool is_new, Product product) {
  json::Errors errors;
  Merge(patch, is_new, product, errors);
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
  ProductPatch patch;
  patch.visible = false;

  MergeWell(patch, false, product);

  Product expected = Pizza();
  expected.description = "Thin";
  expected.visible = false;
  EXPECT_EQ(product, expected);
}

TEST(MenuMerge, ClearsWhatWasSentAsNothing) {
  Product product = Pizza();
  product.description = "Thin";
  ProductPatch patch;
  patch.description = Setting<std::string>(std::in_place, std::nullopt);

  MergeWell(patch, false, product);

  EXPECT_EQ(product.description, std::nullopt);
}

TEST(MenuMerge, GivesANewProductASlugAndOneVariant) {
  Product product;
  ProductPatch patch;
  patch.name = "Ají de gallina";
  patch.variants = {Only(1850)};

  EXPECT_EQ(MergeWell(patch, true, product), Targets{0});

  EXPECT_EQ(product.slug, "aji-de-gallina");
  ASSERT_EQ(product.variants.size(), 1u);
  EXPECT_EQ(product.variants[0].name, kOnlyVariant);
  EXPECT_EQ(product.variants[0].id, "fresh");
  EXPECT_EQ(product.variants[0].price, 1850);
}

TEST(MenuMerge, KeepsTheSlugOfARenamedProduct) {
  Product product = Pizza();
  ProductPatch patch;
  patch.name = "Calzone";
  MergeWell(patch, false, product);
  EXPECT_EQ(product.slug, "pizza");
}

TEST(MenuMerge, MatchesVariantsByIdThenSkuThenName) {
  Product product = Pizza();
  ProductPatch patch;
  VariantPatch by_id = Sized("Large", 1);  // its id says Small
  by_id.id = "s";
  VariantPatch by_sku = Sized("Huge", 2);
  by_sku.sku = Setting<std::string>(std::in_place, "P-L");
  patch.variants = {by_id, by_sku};

  EXPECT_EQ(MergeWell(patch, false, product), (Targets{0, 1}));
  EXPECT_EQ(product.variants[0].name, "Large");
  EXPECT_EQ(product.variants[1].name, "Huge");

  ProductPatch by_name;
  by_name.variants = {Sized("HUGE", 3)};
  EXPECT_EQ(MergeWell(by_name, false, product), Targets{1});
}

TEST(MenuMerge, AppendsAVariantThatMatchesNone) {
  Product product = Pizza();
  ProductPatch patch;
  patch.variants = {Sized("Giant", 3000)};

  EXPECT_EQ(MergeWell(patch, false, product), Targets{2});

  EXPECT_EQ(product.variants[2].id, "fresh-Giant");
  EXPECT_EQ(product.variants[2].position, 2);
}

TEST(MenuMerge, TakesTwoVariantsOfOneNameWhereEachHasASku) {
  Product product = Pizza();
  ProductPatch patch;
  patch.variants = {Sized("Small", 1), Sized("Small", 2)};
  patch.variants[1].sku = Setting<std::string>(std::in_place, "P-OTHER");
  EXPECT_EQ(MergeWell(patch, false, product), (Targets{0, 2}));
}

TEST(MenuMerge, RefusesTwoRowsThatHitOneVariant) {
  ProductPatch patch;
  patch.variants = {Sized("Small", 1), Sized("small", 2)};
  patch.variants[1].place.path = "variants[1]";
  EXPECT_EQ(Wrong(patch, false, Pizza()),
            std::pair(std::string("variants[1].name"), FieldCode::kDuplicate));
}

TEST(MenuMerge, TakesTheShorthandForTheOneVariantAlone) {
  ProductPatch patch;
  patch.variants = {Only(5)};
  EXPECT_EQ(Wrong(patch, false, Pizza()), std::pair(std::string("price"), FieldCode::kNotAllowed));

  Product product = Pizza();
  product.variants.pop_back();
  EXPECT_EQ(MergeWell(patch, false, product), Targets{0});
  EXPECT_EQ(product.variants[0].name, "Small");
  EXPECT_EQ(product.variants[0].price, 5);
}

TEST(MenuMerge, TakesTheShorthandForTheVariantThatItsSkuNames) {
  Product product = Pizza();
  ProductPatch patch;
  patch.variants = {Only(5)};
  patch.variants[0].sku = Setting<std::string>(std::in_place, "P-L");
  EXPECT_EQ(MergeWell(patch, false, product), Targets{1});
  EXPECT_EQ(product.variants[1].price, 5);
}

TEST(MenuMerge, NeverMatchesAVariantThatMustBeNew) {
  ProductPatch patch;
  patch.variants = {Sized("Small", 1)};
  patch.variants[0].is_new = true;
  EXPECT_EQ(Wrong(patch, false, Pizza()), std::pair(std::string("name"), FieldCode::kDuplicate));
}

TEST(MenuMerge, RequiresWhatANewRowNeeds) {
  ProductPatch nameless;
  nameless.variants = {Only(1)};
  EXPECT_EQ(Wrong(nameless, true, {}), std::pair(std::string("name"), FieldCode::kRequired));

  ProductPatch priceless;
  priceless.name = "Pizza";
  EXPECT_EQ(Wrong(priceless, true, {}), std::pair(std::string("price"), FieldCode::kRequired));
}

ModifierCategoryPatch Sauces() {
  ModifierCategoryPatch patch;
  patch.fresh_id = "sauces";
  patch.name = "Sauces";
  return patch;
}

TEST(MenuMerge, DerivesTheCountsOfANewModifierCategory) {
  Product product = Pizza();
  ProductPatch patch;
  patch.modifier_categories = {Sauces()};
  patch.modifier_categories[0].type = "one";
  patch.modifier_categories[0].required = true;

  MergeWell(patch, false, product);

  EXPECT_EQ(product.modifier_categories[0].min_modifiers, 1);
  EXPECT_EQ(product.modifier_categories[0].max_modifiers, 1);
}

TEST(MenuMerge, ChangesNothingTheSecondTime) {
  Product product = Pizza();
  ProductPatch patch;
  patch.variants = {Sized("Giant", 3000), Sized("Small", 900)};
  patch.modifier_categories = {Sauces()};
  patch.modifier_categories[0].required = true;
  ModifierPatch sauce;
  sauce.fresh_id = "hot";
  sauce.name = "Hot";
  patch.modifier_categories[0].modifiers = {sauce};

  MergeWell(patch, false, product);
  const Product once = product;
  MergeWell(patch, false, product);

  EXPECT_EQ(product, once);
  ASSERT_EQ(once.modifier_categories.size(), 1u);
  EXPECT_EQ(once.modifier_categories[0].modifiers[0].id, "hot");
}

TEST(MenuMerge, RefusesMoreModifiersThanPossibleOnTheMergedRow) {
  Product product = Pizza();
  product.modifier_categories = {{.id = "x", .name = "Sauces", .max_modifiers = 2}};
  ProductPatch patch;
  patch.modifier_categories = {Sauces()};
  patch.modifier_categories[0].min_modifiers = 3;
  EXPECT_EQ(Wrong(patch, false, product),
            std::pair(std::string("min_modifiers"), FieldCode::kOutOfRange));
}

}  // namespace
}  // namespace comanda::menu
