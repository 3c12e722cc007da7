#include "http/answer_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/waiting.h"

namespace comanda::http {
namespace {

Response Saying(std::string text) {
  Response response;
  response.body = std::move(text);
  return response;
}

// Threads that ask for the same at once.
class Askers {
 public:
  static constexpr int kCount = 30;

  void Add() {
    const std::lock_guard lock(mutex_);
    threads_.push_back(::gettid());
  }
  // By the one that makes the answer: all others wait for it.
  void AwaitTheOthersBlocked() {
    EXPECT_TRUE(testing::Await([&] { return threads().size() == kCount; }));
    for (const pid_t thread : threads()) {
      EXPECT_TRUE(thread == ::gettid() || testing::AwaitBlocked(thread));
    }
  }

 private:
  std::vector<pid_t> threads() {
    const std::lock_guard lock(mutex_);
    return threads_;
  }

  std::mutex mutex_;
  std::vector<pid_t> threads_;  // guarded by mutex_
};

TEST(HttpAnswerCache, MakesAnAnswerOnceForAllWhoAskAtTheSameTime) {
  AnswerCache cache(1'000'000);
  Askers askers;
  std::atomic<int> made{0};
  std::vector<std::jthread> displays;
  std::atomic<int> right{0};
  for (int i = 0; i < Askers::kCount; ++i) {
    displays.emplace_back([&] {
      askers.Add();
      const Response answer = cache.Get("page", [&] {
        made.fetch_add(1);
        askers.AwaitTheOthersBlocked();
        return Saying("orders");
      });
      if (answer.Body() == "orders") right.fetch_add(1);
    });
  }
  displays.clear();
  EXPECT_EQ(made.load(), 1);
  EXPECT_EQ(right.load(), Askers::kCount);
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
  Askers askers;
  std::atomic<int> made{0}, failed{0};
  std::vector<std::jthread> displays;
  for (int i = 0; i < Askers::kCount; ++i) {
    displays.emplace_back([&] {
      askers.Add();
      try {
        cache.Get("page", [&]() -> Response {
          ++made;
          askers.AwaitTheOthersBlocked();
          throw std::runtime_error("all readers are busy");
        });
      } catch (const std::runtime_error&) {
        ++failed;
      }
    });
  }
  displays.clear();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(failed, Askers::kCount);
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
