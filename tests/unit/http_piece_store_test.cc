#include "http/piece_store.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/gzip.h"

namespace comanda::http {
namespace {

constexpr size_t kRoomy = 1'000'000;
constexpr std::string_view kTail = "],\"pagination\":{}}";

std::string TextOf(const std::string& name) {
  return "{\"order\":\"" + name + "\",\"comment\":\"" + std::string(200, name.back()) + "\"}";
}

std::string BodyOf(const std::vector<std::string>& names) {
  std::string body = "{\"data\":[";
  for (const std::string& name : names) {
    if (&name != &names.front()) body += ',';
    body += TextOf(name);
  }
  return body.append(kTail);
}

// Joins lists, and counts the rows that were read for them.
struct Kitchen {
  PieceStore store;
  int read = 0;

  explicit Kitchen(size_t bytes_max = kRoomy) : store(bytes_max) {}

  std::string Join(const std::vector<std::string>& names) {
    read = 0;
    return store.Join(names, kTail, [&](size_t row) {
      ++read;
      return TextOf(names[row]);
    });
  }
};

std::string Unpacked(const std::string& file) {
  return Gunzip({reinterpret_cast<const uint8_t*>(file.data()), file.size()});
}

std::vector<std::string> Orders(int newest, int count) {
  std::vector<std::string> names;
  for (int number = newest; number > newest - count; --number) {
    names.push_back("order " + std::to_string(number));
  }
  return names;
}

TEST(HttpPieceStore, LeavesToOthersWhatItMeetsForTheFirstTime) {
  Kitchen kitchen;

  EXPECT_EQ(kitchen.Join(Orders(50, 50)), "");
  EXPECT_EQ(kitchen.read, 0);
  EXPECT_EQ(kitchen.Join({}), "");
}

TEST(HttpPieceStore, JoinsAPageThatItHasMetAndReadsNothingTheNextTime) {
  Kitchen kitchen;
  kitchen.Join(Orders(50, 50));

  EXPECT_EQ(Unpacked(kitchen.Join(Orders(50, 50))), BodyOf(Orders(50, 50)));
  EXPECT_GT(kitchen.read, 0);
  EXPECT_EQ(Unpacked(kitchen.Join(Orders(50, 50))), BodyOf(Orders(50, 50)));
  EXPECT_EQ(kitchen.read, 0);
}

TEST(HttpPieceStore, ReadsTheNewOrderAndTheOneBehindItAlone) {
  Kitchen kitchen;
  for (int i = 0; i < 2; ++i) kitchen.Join(Orders(50, 50));

  EXPECT_EQ(Unpacked(kitchen.Join(Orders(51, 50))), BodyOf(Orders(51, 50)));
  EXPECT_EQ(kitchen.read, 3);  // the new one also as what stands in front of the next
}

TEST(HttpPieceStore, AnOrderThatChangedIsReadAgainAndSoIsTheOneBehindIt) {
  Kitchen kitchen;
  std::vector<std::string> names = Orders(50, 50);
  for (int i = 0; i < 2; ++i) kitchen.Join(names);
  names[7] += " version 2";

  EXPECT_EQ(Unpacked(kitchen.Join(names)), BodyOf(names));
  EXPECT_EQ(kitchen.read, 4);
}

TEST(HttpPieceStore, TheSameOrdersBehindOthersAreOtherPieces) {
  Kitchen kitchen;
  std::vector<std::string> names = Orders(20, 20);
  for (int i = 0; i < 2; ++i) kitchen.Join(names);
  std::vector<std::string> backwards(names.rbegin(), names.rend());

  EXPECT_EQ(kitchen.Join(backwards), "");
  EXPECT_EQ(Unpacked(kitchen.Join(backwards)), BodyOf(backwards));
}

TEST(HttpPieceStore, ForgetsWhatWasNotUsedForLongest) {
  Kitchen kitchen(100'000);
  const std::vector<std::string> always = Orders(50, 50), once = Orders(1'000'000, 50);
  for (const auto& names : {always, always, once, once}) kitchen.Join(names);
  EXPECT_NE(kitchen.Join(once), "");

  for (int page = 1; page < 200; ++page) {
    for (int i = 0; i < 2; ++i) kitchen.Join(Orders(page * 1'000, 20));
    EXPECT_EQ(Unpacked(kitchen.Join(always)), BodyOf(always));
    EXPECT_EQ(kitchen.read, 0) << page;
  }
  EXPECT_EQ(kitchen.Join(once), "");
}

TEST(HttpPieceStore, ManyMayJoinAtOnce) {
  PieceStore store(20'000);  // full again and again
  std::vector<std::jthread> displays;
  for (int display = 0; display < 4; ++display) {
    displays.emplace_back([&store, display] {
      for (int newest = 50; newest < 150; ++newest) {
        const std::vector<std::string> names = Orders(newest, 20 + display);
        const std::string file =
            store.Join(names, kTail, [&](size_t row) { return TextOf(names[row]); });
        EXPECT_TRUE(file.empty() || Unpacked(file) == BodyOf(names));
      }
    });
  }
}

}  // namespace
}  // namespace comanda::http
