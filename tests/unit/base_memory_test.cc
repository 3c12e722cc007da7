#include "base/memory.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace comanda {
namespace {

// Pages that the process has in memory.
int64_t Resident() {
  std::ifstream file("/proc/self/statm");
  int64_t whole = 0;
  int64_t resident = 0;
  file >> whole >> resident;
  return resident;
}

[[gnu::noinline]] int Deep() {
  constexpr size_t kBytes = 512 * 1024;
  volatile char bytes[kBytes];
  for (size_t i = 0; i < kBytes; i += 1024) bytes[i] = static_cast<char>(i);
  return bytes[kBytes / 2];
}

TEST(Memory, GivesBackWhatADeepCallLeftOnTheStack) {
  std::jthread([] {
    const std::string before(100, 'b');
    const int64_t shallow = Resident();
    Deep();
    const int64_t deep = Resident();
    GiveBackStack();

    EXPECT_GT(deep - shallow, 100);
    EXPECT_LT(Resident() - shallow, 20);
    EXPECT_EQ(before, std::string(100, 'b'));
    Deep();  // and it can go there again
  });
}

TEST(Memory, GivesBackWhatWasFreed) {
  std::vector<std::unique_ptr<std::string>> texts(20'000);
  for (auto& text : texts) text = std::make_unique<std::string>(1'000, 'x');
  const std::string last(5'000, 'y');
  const int64_t full = Resident();
  texts.clear();
  GiveBackHeap();

  EXPECT_LT(Resident(), full - 4'000);
  EXPECT_EQ(last.back(), 'y');
}

// Pages that stay when all has been given back that so many threads freed, while they live on.
int64_t LeftBy(size_t count, void (*first)()) {
  std::latch freed(static_cast<std::ptrdiff_t>(count));
  std::latch measured(1);
  GiveBackHeap();  // what threads before left, or these would take it again
  const int64_t before = Resident();
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      first();
      std::vector<std::string> texts;
      for (size_t size = 32; size < 1'000; size += 8) texts.emplace_back(size, 'x');
      texts.clear();
      freed.count_down();
      measured.wait();
    });
  }
  freed.wait();
  GiveBackHeap();
  const int64_t left = Resident() - before;
  measured.count_down();
  return left;
}

TEST(Memory, GivesBackWhatThreadsFreedThatLiveOn) {
  constexpr size_t kThreads = 64;

  LeftBy(kThreads, [] {});  // the threads' stacks, and the pools of all
  const int64_t kept = LeftBy(kThreads, [] {});
  const int64_t shared = LeftBy(kThreads, ShareFreedMemory);

  EXPECT_LT(shared + 100, kept);
}

}  // namespace
}  // namespace comanda
