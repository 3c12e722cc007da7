#include "http/answer_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace comanda::http {
namespace {

Response Saying(std::string text) {
  Response response;
  response.body = std::move(text);
  return response;
}

TEST(HttpAnswerCache, MakesAnAnswerOnceForAllWhoAskAtTheSameTime) {
  AnswerCache cache(1'000'000);
  std::atomic<int> made{0};
  std::vector<std::jthread> displays;
  std::atomic<int> right{0};
  for (int i = 0; i < 30; ++i) {
    displays.emplace_back([&] {
      const Response answer = cache.Get("page", [&] {
        made.fetch_add(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return Saying("orders");
      });
      if (answer.Body() == "orders") right.fetch_add(1);
    });
  }
  displays.clear();
  EXPECT_EQ(made.load(), 1);
  EXPECT_EQ(right.load(), 30);
}

TEST(HttpAnswerCache, KeepsAnswersApartByKey) {
  AnswerCache cache(1'000'000);
  EXPECT_EQ(cache.Get("a", [] { return Saying("1"); }).Body(), "1");
  EXPECT_EQ(cache.Get("b", [] { return Saying("2"); }).Body(), "2");
  EXPECT_EQ(cache.Get("a", [] { return Saying("3"); }).Body(), "1");
}

TEST(HttpAnswerCache, TheNextOneTriesWhereMakingFailed) {
  AnswerCache cache(1'000'000);
  EXPECT_THROW(cache.Get("a", []() -> Response { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(cache.Get("a", [] { return Saying("now"); }).Body(), "now");
}

TEST(HttpAnswerCache, HandsAFailureToAllWhoWaitForIt) {
  AnswerCache cache(1'000'000);
  constexpr int kDisplays = 8;
  std::atomic<int> asking{0}, made{0}, failed{0};
  std::vector<std::jthread> displays;
  for (int i = 0; i < kDisplays; ++i) {
    displays.emplace_back([&] {
      ++asking;
      try {
        cache.Get("page", [&]() -> Response {
          ++made;
          while (asking < kDisplays) std::this_thread::yield();
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          throw std::runtime_error("all readers are busy");
        });
      } catch (const std::runtime_error&) {
        ++failed;
      }
    });
  }
  displays.clear();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(failed, kDisplays);
}

TEST(HttpAnswerCache, DoesNotKeepWhatWouldLeaveNoRoomForOthers) {
  AnswerCache cache(16'000);
  int made = 0;
  const auto big = [&] {
    ++made;
    return Saying(std::string(10'000, 'x'));
  };
  cache.Get("small", [] { return Saying("s"); });
  EXPECT_EQ(cache.Get("big", big).Body().size(), 10'000u);
  EXPECT_EQ(cache.Get("big", big).Body().size(), 10'000u);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(cache.Get("small", [] { return Saying("another"); }).Body(), "s");
}

TEST(HttpAnswerCache, ForgetsWhatWasNotUsedForLongest) {
  AnswerCache cache(12'500);
  const auto big = [] { return Saying(std::string(1'000, 'x')); };
  cache.Get("a", big);
  for (int i = 0; i < 7; ++i) cache.Get(std::to_string(i), big);
  cache.Get("b", big);
  int made = 0;
  const auto counting = [&] {
    ++made;
    return Saying("new");
  };
  cache.Get("b", counting);
  EXPECT_EQ(made, 0);
  cache.Get("a", counting);
  EXPECT_EQ(made, 1);
}

TEST(HttpAnswerCache, GivesAnAnswerThatIsLargerThanItself) {
  AnswerCache cache(10);
  EXPECT_EQ(cache.Get("a", [] { return Saying(std::string(100, 'x')); }).Body().size(), 100u);
}

}  // namespace
}  // namespace comanda::http
