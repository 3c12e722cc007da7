#include "backups/catalog.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace comanda::backups {
namespace {

class BackupsCatalog : public testing::Test {
 protected:
  BackupsCatalog() {
    std::string path = (std::filesystem::temp_directory_path() / "comanda-test-XXXXXX").string();
    root = ::mkdtemp(path.data());
  }
  ~BackupsCatalog() override { std::filesystem::remove_all(root); }

  void Directory(const std::string& name) { std::filesystem::create_directory(root + "/" + name); }
  void File(const std::string& name) { std::ofstream(root + "/" + name) << "x"; }

  std::string root;
};

TEST(BackupsName, IsReadAsItWasWritten) {
  const UtcMs instant = *ParseInstant("2026-11-23T03:15:00Z");
  EXPECT_EQ(NameOfBackup(17, instant, false), "comanda-000017-20261123T031500Z");
  EXPECT_EQ(NameOfBackup(1'234'567, 0, true), "comanda-1234567-19700101T000000Z.sealed");

  for (const bool is_sealed : {false, true}) {
    const auto read = ParseName(NameOfBackup(17, instant, is_sealed));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->number, 17);
    EXPECT_EQ(read->made_at, instant);
    EXPECT_EQ(read->is_sealed, is_sealed);
  }
}

TEST(BackupsName, OfAnotherFormIsNone) {
  for (const char* name : {
           "",
           "comanda-",
           "comanda-000001",
           "comanda-000001-",
           "comanda-2026-11-23",
           "comanda-00001-20261123T031500Z",
           "comanda-000001-20261123T031500",
           "comanda-000001-20261323T031500Z",
           "comanda-000001-20261123T031500Z.sealed.damaged",
           "comanda-000001-20261123T031500Z.unfinished",
           "comanda--00001-20261123T031500Z",
           "comanda-9999999999999999999999-20261123T031500Z",
           "comanda-backup-unfinished.123456",
           "xcomanda-000001-20261123T031500Z",
       }) {
    EXPECT_FALSE(ParseName(name)) << name;
  }
}

TEST_F(BackupsCatalog, ListsTheGoodOnesInTheOrderOfTheirNumbers) {
  Directory("comanda-000009-20261123T031500Z");
  Directory("comanda-000010-19700101T000001Z");
  File("comanda-000011-20261124T031500Z.sealed");
  File("comanda-000012-20261124T031500Z");              // a directory should have this name
  Directory("comanda-000013-20261124T031500Z.sealed");  // a file should
  Directory("comanda-000014-20261124T031500Z.damaged");
  Directory("comanda-backup-unfinished.123456");
  Directory("comanda-2026-11-23");

  const auto found = BackupsIn(root);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].path, root + "/comanda-000011-20261124T031500Z.sealed");
  EXPECT_TRUE(found[0].is_sealed);
  EXPECT_EQ(found[1].name, "comanda-000010-19700101T000001Z");
  EXPECT_EQ(found[2].number, 9);
  ASSERT_EQ(DamagedIn(root).size(), 1u);
  EXPECT_EQ(NextNumber(root), 15);
}

TEST_F(BackupsCatalog, IsEmptyWhereThereIsNone) {
  EXPECT_TRUE(BackupsIn(root).empty());
  EXPECT_TRUE(BackupsIn(root + "/missing").empty());
  EXPECT_EQ(NextNumber(root), 1);
}

}  // namespace
}  // namespace comanda::backups
