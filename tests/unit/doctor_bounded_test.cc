#include "doctor/bounded.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "base/time/clock.h"
#include "base/file.h"
#include "base/problem.h"
#include "doctor/machine.h"
#include "doctor/checks/named_files.h"
#include "support/waiting.h"

namespace comanda::doctor {
namespace {

using testing::kPatienceMs;
// Long enough for what does not hang, and waited for by the test of what does.
const int64_t kShortMs = kPatienceMs / 10;

TEST(DoctorBounded, ReturnsWhatTheWorkReturns) {
  const std::string large(300'000, 'x');  // more than a pipe holds
  const auto outcomes =
      RunBounded({[] { return std::string("one"); }, [&] { return large; }}, kPatienceMs);
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_EQ(outcomes[0].result, "one");
  EXPECT_EQ(outcomes[1].result, large);
}

TEST(DoctorBounded, LeavesBehindWhatHangs) {
  const int64_t begun_ms = SystemClock().MonotonicMs();
  const auto outcomes = RunBounded({[] {
                                      for (;;) ::pause();
                                      return std::string();
                                    },
                                    [] { return std::string("well"); }},
                                   kShortMs);
  EXPECT_FALSE(outcomes[0].result);
  EXPECT_EQ(outcomes[0].failure, "no answer within " + std::to_string(kShortMs / 1000) + " s");
  EXPECT_EQ(outcomes[1].result, "well");
  EXPECT_LT(SystemClock().MonotonicMs() - begun_ms, kPatienceMs);
}

TEST(DoctorBounded, SaysWhatWasThrown) {
  const auto outcome = RunBounded(
      []() -> std::string { throw Fault(Fault::Kind::kInternal, "read /x: Input/output error"); },
      kPatienceMs);
  EXPECT_FALSE(outcome.result);
  EXPECT_EQ(outcome.failure, "read /x: Input/output error");
}

TEST(DoctorBounded, OutlivesACrash) {
  const auto outcome = RunBounded(
      []() -> std::string {
        ::signal(SIGKILL, SIG_DFL);
        ::kill(::getpid(), SIGKILL);
        return {};
      },
      kPatienceMs);
  EXPECT_FALSE(outcome.result);
  EXPECT_EQ(outcome.failure, "it ended with signal 9");
}

TEST(DoctorNamedFiles, ARootThatIsClosedIsNamed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root changes its root";
  char name[] = "/tmp/comanda-root-XXXXXX";
  const std::string root = ::mkdtemp(name);
  MakeDirectories(root + "/srv/backups", 0755);
  const auto closed_with = [&](mode_t mode) {
    return RunBounded(
               [&] {
                 constexpr uid_t kNobody = 65534;
                 const bool is_there = ::chmod(root.c_str(), mode) == 0 &&
                                       ::chroot(root.c_str()) == 0 && ::chdir("/") == 0 &&
                                       ::setuid(kNobody) == 0;
                 return is_there ? ClosedAbove("/srv/backups") : "not there";
               },
               kPatienceMs)
        .result;
  };
  EXPECT_EQ(closed_with(0755), "");
  EXPECT_EQ(closed_with(0700), "/");
  RemoveAll(root);
}

TEST(DoctorMachine, GivesUpOnAProgramThatHangs) {
  const int64_t begun_ms = SystemClock().MonotonicMs();
  const Machine machine({}, 100);
  EXPECT_EQ(machine.OutputFrom("sh", {"-c", "echo begun; exec sleep 1000"}), std::nullopt);
  EXPECT_LT(SystemClock().MonotonicMs() - begun_ms, kPatienceMs);
}

TEST(DoctorMachine, ReadsTheOutputOfAProgramWhateverItsExitCode) {
  const Machine machine({}, kPatienceMs);
  EXPECT_EQ(machine.OutputFrom("sh", {"-c", "echo \"$LC_ALL $HOME\"; exit 3"}), "C \n");
  EXPECT_EQ(machine.OutputFrom("no-such-program", {}), std::nullopt);
}

TEST(DoctorMachine, ReadsNumbersInBothForms) {
  EXPECT_EQ(ParseNumber("0x0A"), 10);
  EXPECT_EQ(ParseNumber("-5"), -5);
  for (const char* wrong : {"", "0x", "ten", "5 ", "99999999999999999999", "0x-"}) {
    EXPECT_EQ(ParseNumber(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace comanda::doctor
