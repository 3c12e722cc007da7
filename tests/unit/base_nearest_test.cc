#include "base/nearest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace comanda {
namespace {

TEST(Nearest, FindsWhatWasMistyped) {
  constexpr std::array<std::string_view, 3> kWords = {"per_page", "page", "filter[status]"};
  EXPECT_EQ(Nearest("pgae", kWords), "page");
  EXPECT_EQ(Nearest("filter[statsu]", kWords), "filter[status]");
  EXPECT_EQ(Nearest("filtre[status]", kWords), "filter[status]");
  EXPECT_EQ(Nearest("filter[paid]", std::array<std::string_view, 1>{"filter[day]"}), "");
  EXPECT_EQ(Nearest("cursor_token", kWords), "");
  EXPECT_EQ(Nearest("foo", std::array<std::string_view, 1>{"sort"}), "");
  EXPECT_EQ(Nearest("", kWords), "");
  EXPECT_EQ(Nearest(std::string(100'000, 'x'), kWords), "");
}

TEST(Nearest, KnowsTheWordsOfOtherSystems) {
  constexpr std::array<std::string_view, 9> kItem = {"product_id",    "variant_id",   "sku",
                                                     "product_name",  "variant_name", "quantity",
                                                     "variant_price", "comment",      "modifiers"};
  for (const auto& [word, meant] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"catalog_object_id", "variant_id"},
           {"variationName", "variant_name"},
           {"displayName", "product_name"},
           {"title", "product_name"},
           {"note", "comment"},
           {"line_note", "comment"},
           {"variation_id", "variant_id"},
           {"base_price_money", "variant_price"},
           {"lineModifiers", "modifiers"},
           {"unitQuantity", "quantity"},
           {"customSku", "sku"},
           {"total_money", ""},
           {"quantity_unit", ""},
           {"tax_lines", ""}}) {
    EXPECT_EQ(Nearest(word, kItem), meant) << word;
  }
  constexpr std::array<std::string_view, 2> kSent = {"variation_name", "item_name"};
  EXPECT_EQ(MeantBy("product_name", kSent), "; did you mean it by item_name?");
  EXPECT_EQ(MeantBy("quantity", std::array<std::string_view, 1>{"quantity_unit"}), "");
}

TEST(Nearest, LooksPastCaseAndSeparators) {
  constexpr std::array<std::string_view, 2> kWords = {"page", "per_page"};
  for (const std::string_view word : {"perpage", "perPage", "per-page", "PER_PAGE"}) {
    EXPECT_EQ(Nearest(word, kWords), "per_page") << word;
  }
}

TEST(Nearest, FindsWhatWasAbbreviated) {
  constexpr std::array<std::string_view, 3> kWords = {"comment", "product_name", "quantity"};
  EXPECT_EQ(Nearest("qty", kWords), "quantity");
  EXPECT_EQ(Nearest("cmt", kWords), "comment");
  EXPECT_EQ(Nearest("comm", kWords), "comment");
  EXPECT_EQ(Nearest("qt", kWords), "") << "too short to tell";
  EXPECT_EQ(Nearest("tyq", kWords), "");
  EXPECT_EQ(Nearest("quantity", std::array<std::string_view, 1>{"qty"}), "qty");
}

TEST(Nearest, FindsANameByItsWords) {
  constexpr std::array<std::string_view, 5> kWords = {"payment_method_id", "payment_method_code",
                                                      "amount", "variant_price", "order_items"};
  EXPECT_EQ(Nearest("price", kWords), "variant_price");
  EXPECT_EQ(Nearest("method", kWords), "payment_method_id");
  EXPECT_EQ(Nearest("method_code", kWords), "payment_method_code");
  EXPECT_EQ(Nearest("amount_paid", kWords), "amount");
  EXPECT_EQ(Nearest("amountPaid", kWords), "amount");
  EXPECT_EQ(Nearest("item", kWords), "order_items");
  EXPECT_EQ(Nearest("id", kWords), "") << "too short to tell";
  EXPECT_EQ(Nearest("unit_cost", kWords), "");
  EXPECT_EQ(Nearest("the_amount_that_was_paid", kWords), "") << "too many other words";
}

TEST(Nearest, PrefersATypingErrorAndTheFirst) {
  EXPECT_EQ(Nearest("prce", std::array<std::string_view, 2>{"list_price", "price"}), "price");
  EXPECT_EQ(Nearest("name", std::array<std::string_view, 2>{"product_name", "variant_name"}),
            "product_name");
}

TEST(Nearest, CountsEdits) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(EditDistance("combo", "combos"), 1U);
}

}  // namespace
}  // namespace comanda
