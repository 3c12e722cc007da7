#include "base/log.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "support/waiting.h"

namespace comanda::log {
namespace {

const std::string kTail(38, 'Z');

TEST(Log, WritesNamesAndValues) {
  EXPECT_EQ(Line("order placed", {{"order", "0190"}, {"total", 1250}}),
            "order placed order=0190 total=1250");
}

TEST(Log, QuotesWhatWouldReadAsTwoValues) {
  EXPECT_EQ(Line("m", {{"a", "two words"}, {"b", "say \"hi\" \\"}, {"c", ""}, {"d", "x=y"}}),
            R"(m a="two words" b="say \"hi\" \\" c="" d="x=y")");
}

TEST(Log, LetsNoValueBeginALine) {
  EXPECT_EQ(Line("m\n<3>forged", {{"a", "x\n<3>forged\r\x1b[31m\x7f"}}),
            R"(m\n<3>forged a=x\n<3>forged\x0d\x1b[31m\x7f)");
}

TEST(Log, EscapesControlsBeyondAsciiAndBrokenText) {
  EXPECT_EQ(Line("m", {{"a", "\xc2\x9b"}, {"b", "\xff"}, {"c", "\xc3\xb1"}}),
            "m a=\\x9b b=\\xff c=\xc3\xb1");
}

TEST(Log, MasksKeysWhereverTheyStand) {
  EXPECT_EQ(Line("m", {{"key", "cmd_live_" + kTail}}), "m key=cmd_live_***");
  EXPECT_EQ(Line("m", {{"header", "Bearer ab_test_" + kTail + "; x"}}),
            R"(m header="Bearer ab_test_***; x")");
  EXPECT_EQ(Line("got cmd_test_" + kTail), "got cmd_test_***");
  EXPECT_EQ(Line("m", {{"two", "cmd_live_" + kTail + ",cmd_test_" + kTail}}),
            "m two=cmd_live_***,cmd_test_***");
}

TEST(Log, MasksWebhookSecrets) {
  EXPECT_EQ(Line("m", {{"secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw+/="}}),
            "m secret=whsec_***");
}

TEST(Log, LeavesWhatIsNoKey) {
  EXPECT_EQ(Line("m", {{"a", "cmd_live_" + kTail.substr(1)}}), "m a=cmd_live_" + kTail.substr(1));
  EXPECT_EQ(Line("m", {{"a", "c_live_" + kTail}}), "m a=c_live_" + kTail);
  EXPECT_EQ(Line("m", {{"a", "_live_"}, {"b", "cmd_demo_" + kTail}}),
            "m a=_live_ b=cmd_demo_" + kTail);
}

TEST(Log, CutsLongValuesBetweenCharacters) {
  std::string value(4095, 'x');
  value += "\xc3\xb1 and more";

  EXPECT_EQ(Line("m", {{"a", value}}), "m a=" + std::string(4095, 'x') + "...");
}

// What is written while it lives.
class Output {
 public:
  Output() : file_(std::tmpfile()) { SetOutput(fileno(file_)); }
  ~Output() {
    SetOutput(STDOUT_FILENO);
    std::fclose(file_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  std::string text() const {
    std::string text(4096, '\0');
    const ssize_t size = ::pread(fileno(file_), text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
    return text;
  }

 private:
  std::FILE* file_;
};

TEST(Log, WritesEachLineAtOnce) {
  const Output output;
  Info("one");
  EXPECT_EQ(output.text(), "<6>one\n");
}

TEST(Log, LosesLinesWhileNobodyReadsThePipeAndWritesAgainAfterwards) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  ASSERT_EQ(::fcntl(pipe[0], F_SETFL, O_NONBLOCK), 0);
  SetOutput(pipe[1]);
  const std::string filling(4000, 'x');
  for (int i = 0; i < 40; ++i) Info("filling", {{"with", filling}});  // more than a pipe holds
  std::array<char, 65'536> read{};
  while (::read(pipe[0], read.data(), read.size()) > 0) continue;
  Info("again");
  const ssize_t size = ::read(pipe[0], read.data(), read.size());
  SetOutput(STDOUT_FILENO);
  ::close(pipe[0]);
  ::close(pipe[1]);

  EXPECT_EQ(std::string(read.data(), static_cast<size_t>(std::max<ssize_t>(size, 0))),
            "<6>again\n");
}

// Whether all threads came back before anybody read.
bool AllWriteToAPipeThatNobodyReads() {
  constexpr int kThreads = 16;
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe(pipe.data()), 0);
  EXPECT_EQ(::fcntl(pipe[0], F_SETFL, O_NONBLOCK), 0);
  SetOutput(pipe[1]);
  std::atomic<int> done = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const std::string filling(4000, 'x');
      for (int line = 0; line < 5; ++line) Info("filling", {{"with", filling}});
      ++done;
    });
  }
  const bool all = testing::Await([&] { return done == kThreads; });
  std::array<char, 65'536> read{};
  while (done < kThreads) {
    if (::read(pipe[0], read.data(), read.size()) <= 0) std::this_thread::yield();
  }
  threads.clear();
  SetOutput(STDOUT_FILENO);
  ::close(pipe[0]);
  ::close(pipe[1]);
  return all;
}

TEST(Log, KeepsNoThreadWaitingWhereManyFillAPipeAtOnce) {
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(AllWriteToAPipeThatNobodyReads()) << "round " << round;
  }
}

}  // namespace
}  // namespace comanda::log
