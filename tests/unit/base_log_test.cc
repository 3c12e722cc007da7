#include "base/log.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

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

TEST(Log, WritesWhatIsImportantBehindTheLinesBeforeIt) {
  const Output output;
  const Gathering gathering;
  Info("one");
  Notice("two");
  Info("three");
  Error("four");
  EXPECT_EQ(output.text(), "<6>one\n<5>two\n<6>three\n<3>four\n");
}

TEST(Log, WritesGatheredLinesSoonAndAtTheEnd) {
  const Output output;
  {
    const Gathering gathering;
    Info("one");
    while (output.text() != "<6>one\n") std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Info("two");
  }
  EXPECT_EQ(output.text(), "<6>one\n<6>two\n");
}

}  // namespace
}  // namespace comanda::log
