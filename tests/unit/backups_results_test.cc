#include "backups/results.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace comanda::backups {
namespace {

constexpr UtcMs kNow = 1'800'000'000'000;
constexpr UtcMs kHour = 3'600'000;
const std::string kDisk = "/mnt/disk";
const std::string kOther = "/srv/other";

class BackupsResults : public testing::Test {
 protected:
  BackupsResults() {
    std::string path = (std::filesystem::temp_directory_path() / "comanda-test-XXXXXX").string();
    data = ::mkdtemp(path.data());
  }
  ~BackupsResults() override { std::filesystem::remove_all(data); }

  std::string data;
};

TEST_F(BackupsResults, KeepTheLastGoodOneThroughAFailure) {
  EXPECT_TRUE(Results(data).empty());
  NoteResult(
      data,
      {.target = kDisk, .tried_at = kNow, .good_at = kNow, .name = "one", .mount_point = "/mnt"},
      {kDisk, kOther});
  NoteResult(data, {.target = kOther, .tried_at = kNow, .problem = "it is\tfull\n"},
             {kDisk, kOther});
  NoteResult(data, {.target = kDisk, .tried_at = kNow + 1, .problem = "it is away"},
             {kDisk, kOther});

  const auto results = Results(data);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(OldestGood(data), 0) << "one has none";
  EXPECT_EQ(results[0].target, kDisk);
  EXPECT_EQ(results[0].tried_at, kNow + 1);
  EXPECT_EQ(results[0].good_at, kNow);
  EXPECT_EQ(results[0].name, "one");
  EXPECT_EQ(results[0].mount_point, "/mnt");
  EXPECT_EQ(results[0].problem, "it is away");
  EXPECT_EQ(results[1].good_at, 0);
  EXPECT_EQ(results[1].problem, "it is full ");
}

TEST_F(BackupsResults, ForgetATargetThatIsNoLongerSet) {
  NoteResult(data, {.target = kOther, .tried_at = kNow, .good_at = kNow}, {kOther});
  NoteResult(data, {.target = kDisk, .tried_at = kNow, .good_at = kNow}, {kDisk});
  ASSERT_EQ(Results(data).size(), 1u);
  EXPECT_EQ(Results(data)[0].target, kDisk);
  EXPECT_EQ(OldestGood(data), kNow);
}

TEST_F(BackupsResults, OfAFileThatMakesNoSenseAreNone) {
  std::ofstream(data + "/backup-results") << "\n\t\t\n\xff\n";
  for (const Result& one : Results(data)) EXPECT_EQ(one.good_at, 0);
}

TEST_F(BackupsResults, KeepWhatIsKnownOfTheLastGoodOne) {
  NoteResult(data,
             {.target = kDisk,
              .tried_at = kNow,
              .good_at = kNow,
              .name = "one",
              .is_open = true,
              .sizes = {{"one", 100}, {"two", 7}}},
             {kDisk});
  NoteResult(data, {.target = kDisk, .tried_at = kNow + 1, .problem = "it is away"}, {kDisk});

  const Result result = Results(data).at(0);
  EXPECT_TRUE(result.is_open);
  EXPECT_EQ(result.sizes, (std::map<std::string, int64_t>{{"one", 100}, {"two", 7}}));
}

TEST_F(BackupsResults, OfAnOlderProgramAreRead) {
  std::ofstream(data + "/backup-results") << kDisk << "\t5\t4\tname\tproblem\n";
  const Result result = Results(data).at(0);
  EXPECT_EQ(result.good_at, 4);
  EXPECT_EQ(result.problem, "problem");
  EXPECT_EQ(result.begun_at, 0);
  EXPECT_FALSE(result.is_open);
  EXPECT_TRUE(result.sizes.empty());
}

TEST_F(BackupsResults, AreTroubleWhereATryDoesNotEnd) {
  NoteResult(data, {.target = kDisk, .tried_at = kNow, .good_at = kNow, .name = "one"}, {kDisk});
  NoteBegun(data, kNow + kHour, {kDisk, kOther});
  EXPECT_EQ(Trouble(Results(data), kNow + 7 * kHour), "") << "it may still run, also the first one";
  const std::string trouble = Trouble(Results(data), kNow + 8 * kHour);
  EXPECT_NE(trouble.find(kDisk + ": the backup that began at"), std::string::npos) << trouble;
  EXPECT_NE(trouble.find(kOther + ": the backup that began at"), std::string::npos) << trouble;
  NoteResult(data, {.target = kDisk, .tried_at = kNow, .good_at = kNow}, {kDisk});
  EXPECT_EQ(Trouble(Results(data), kNow + 8 * kHour), "");
}

TEST_F(BackupsResults, HaveAFailureOfAllTargets) {
  NoteResult(data, {.target = kDisk, .tried_at = kNow, .good_at = kNow, .name = "one"}, {kDisk});
  NoteFailure(data, "no passphrase", kNow + 1, {kDisk, kOther}, 0);
  ASSERT_EQ(Results(data).size(), 2u);
  for (const Result& one : Results(data)) EXPECT_EQ(one.problem, "no passphrase");
  EXPECT_EQ(Results(data)[0].name, "one") << "the last good one stays noted";
}

TEST_F(BackupsResults, OfATryThatAnotherOneHinderedAreThoseThatItHasNotMadeYet) {
  NoteResult(data, {.target = kDisk, .tried_at = kNow, .good_at = kNow}, {kDisk, kOther});
  NoteBegun(data, kNow, {kOther});
  NoteFailure(data, "another one runs", kNow + 1, {kDisk, kOther}, kNow);
  EXPECT_EQ(Results(data)[0].problem, "");
  EXPECT_EQ(Results(data)[1].problem, "another one runs");
  EXPECT_EQ(Results(data)[1].begun_at, kNow);
}

TEST_F(BackupsResults, AreTroubleWhereTheyFailedOrAreOld) {
  const Result good = {.target = kDisk, .tried_at = kNow, .good_at = kNow};
  EXPECT_EQ(Trouble({}, kNow), "");
  EXPECT_EQ(Trouble({good}, kNow + 71 * kHour), "");
  EXPECT_NE(Trouble({good}, kNow + 73 * kHour).find(kDisk + ": no backup since"),
            std::string::npos);
  EXPECT_EQ(Trouble({good}, 0), "") << "a clock of 1970 is no reason";
  const Result failed = {.target = kOther, .tried_at = kNow, .problem = "it is full"};
  EXPECT_EQ(Trouble({good, failed}, kNow), "it is full");
}

}  // namespace
}  // namespace comanda::backups
