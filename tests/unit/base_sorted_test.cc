#include "base/sorted.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace comanda {
namespace {

struct Row {
  int key;
  int place;
};

TEST(Sorted, KeepsTheOrderOfEqualRows) {
  std::mt19937 random(7);
  for (int size = 0; size < 200; ++size) {
    std::vector<Row> rows;
    for (int i = 0; i < size; ++i) rows.push_back({static_cast<int>(random() % 10), i});
    std::vector<Row> expected = rows;
    const auto before = [](const Row& a, const Row& b) { return a.key < b.key; };
    std::stable_sort(expected.begin(), expected.end(), before);

    SortRows(rows, before);

    EXPECT_TRUE(std::ranges::equal(rows, expected, [](const Row& a, const Row& b) {
      return a.key == b.key && a.place == b.place;
    }));
  }
}

TEST(Sorted, MovesRowsThatCannotBeCopied) {
  std::vector<std::unique_ptr<int>> rows;
  for (const int value : {3, 1, 2}) rows.push_back(std::make_unique<int>(value));

  SortRows(rows, [](const auto& a, const auto& b) { return *a < *b; });

  EXPECT_EQ(*rows[0], 1);
  EXPECT_EQ(*rows[2], 3);
}

}  // namespace
}  // namespace comanda
