#include "base/memory.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
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

}  // namespace
}  // namespace comanda
