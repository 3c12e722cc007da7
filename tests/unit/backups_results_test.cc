#include "backups/results.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
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
