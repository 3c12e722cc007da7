#include "menu/record.h"

#include <gtest/gtest.h>

#include <array>

namespace comanda::menu {
namespace {

company::Company Restaurant() {
  company::Company company;
  company.currency = "PEN";
  return company;
}

// A counted variant, one that is not, and one that is sold out.
Product Beer() {
  Product product;
  product.id = "beer";
  product.name = "Cerveza \"fría\"";
  product.stock_enabled = true;
  product.variants = {{.id = "a", .name = "Lata", .price = 800, .cost = 350, .stock = 4500},
                      {.id = "b", .name = "Botella", .price = 1200},
                      {.id = "c", .name = "Barril", .price = 9000, .cost = 1, .stock = 0}};
  return product;
}

std::string Rendered(const Product& product, Costs costs) {
  std::string text;
  json::Writer out(text);
  Renderer(Restaurant(), costs).Write(out, product);
  return text;
}

std::string Filled(const Product& product, Costs costs, std::span<const int64_t> stocks) {
  std::string text;
  EXPECT_TRUE(AppendFilled(text, RenderMarked(Restaurant(), product), costs, stocks));
  return text;
}

TEST(MenuRecord, FilledIsWhatTheRendererWrites) {
  const std::array<int64_t, 2> stocks = {4500, 0};
  for (const Costs costs : {Costs::kShown, Costs::kHidden}) {
    EXPECT_EQ(Filled(Beer(), costs, stocks), Rendered(Beer(), costs));
  }
}

TEST(MenuRecord, ShowsTheStockOfTheMoment) {
  Product later = Beer();
  later.variants[0].stock = 1250;
  const std::array<int64_t, 2> stocks = {1250, 0};
  EXPECT_EQ(Filled(Beer(), Costs::kHidden, stocks), Rendered(later, Costs::kHidden));
}

TEST(MenuRecord, HidesCosts) {
  const std::array<int64_t, 2> stocks = {4500, 0};
  EXPECT_EQ(Filled(Beer(), Costs::kHidden, stocks).find("cost"), std::string::npos);
  EXPECT_NE(Filled(Beer(), Costs::kShown, stocks).find(R"("currency":"PEN","cost":3.5})"),
            std::string::npos);
}

TEST(MenuRecord, NoticesStocksThatDoNotFit) {
  const std::array<int64_t, 3> stocks = {1, 2, 3};
  const std::string marked = RenderMarked(Restaurant(), Beer());
  std::string text;
  EXPECT_FALSE(AppendFilled(text, marked, Costs::kShown, std::span(stocks).first(1)));
  EXPECT_FALSE(AppendFilled(text, marked, Costs::kShown, stocks));
}

TEST(MenuProduct, IsAvailableWhereVisibleAndInStock) {
  Product product = Beer();
  EXPECT_TRUE(IsAvailable(product));
  EXPECT_TRUE(IsAvailable(product, product.variants[1]));
  EXPECT_FALSE(IsAvailable(product, product.variants[2]));

  product.stock_enabled = false;
  EXPECT_TRUE(IsAvailable(product, product.variants[2]));

  product.visible = false;
  EXPECT_FALSE(IsAvailable(product));
}

TEST(MenuProduct, IsSoldOutWhenEveryVariantIs) {
  Product product = Beer();
  product.variants = {product.variants[2]};
  EXPECT_FALSE(IsAvailable(product));
}

}  // namespace
}  // namespace comanda::menu
