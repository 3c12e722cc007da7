#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/problem.h"

namespace comanda {
namespace {

class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "comanda_file_XXXXXX";
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    directory_ = path;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  size_t Entries() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      count += entry.exists() ? 1 : 0;
    }
    return count;
  }

  static struct stat Status(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status;
  }

  std::string directory_;
};

TEST_F(File, IsReadAsItWasWritten) {
  const std::string path = directory_ + "/key.pem";
  const std::string content("a\0b\n", 4);

  ReplaceFile(path, content, 0600);

  EXPECT_EQ(ReadFile(path), content);
  EXPECT_EQ(Status(path).st_mode & 07777U, 0600U);
}

TEST_F(File, IsReplacedWholeAndLeavesNothingBeside) {
  const std::string path = directory_ + "/a";
  ReplaceFile(path, std::string(200'000, 'x'), 0600);

  ReplaceFile(path, "short", 0644);

  EXPECT_EQ(ReadFile(path), "short");
  EXPECT_EQ(Status(path).st_mode & 07777U, 0644U);
  EXPECT_EQ(Entries(), 1U);
}

TEST_F(File, IsNothingWhereItDoesNotExist) {
  EXPECT_EQ(ReadFile(directory_ + "/missing"), std::nullopt);
}

TEST_F(File, ThatIsADirectoryIsAFault) {
  EXPECT_THROW(ReadFile(directory_), Fault);
  std::filesystem::create_directory(directory_ + "/d");
  EXPECT_THROW(ReplaceFile(directory_ + "/d", "x", 0600), Fault);
  EXPECT_EQ(Entries(), 1U);
  EXPECT_THROW(ReplaceFile(directory_ + "/missing/a", "x", 0600), Fault);
}

TEST_F(File, DirectoriesAreMadeWithTheirParents) {
  MakeDirectories(directory_ + "/a/b/c", 0750);
  MakeDirectories(directory_ + "/a/b/c/", 0700);

  EXPECT_EQ(Status(directory_ + "/a").st_mode & 07777U, 0750U);
  EXPECT_EQ(Status(directory_ + "/a/b/c").st_mode & 07777U, 0750U);
}

TEST_F(File, InTheWayOfADirectoryIsAFault) {
  ReplaceFile(directory_ + "/a", "x", 0600);
  EXPECT_THROW(MakeDirectories(directory_ + "/a", 0700), Fault);
  EXPECT_THROW(MakeDirectories(directory_ + "/a/b", 0700), Fault);
}

TEST_F(File, MadeByRootGetsTheOwnerOfItsDirectory) {
  constexpr uid_t kOwner = 12345;
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::chown(directory_.c_str(), kOwner, kOwner), 0);
  }
  const uid_t expected = root ? kOwner : ::geteuid();

  ReplaceFile(directory_ + "/a", "x", 0600);
  MakeDirectories(directory_ + "/d/e", 0700);

  EXPECT_EQ(Status(directory_ + "/a").st_uid, expected);
  EXPECT_EQ(Status(directory_ + "/d/e").st_uid, expected);
}

TEST_F(File, AreListedWithoutTheDirectoriesBesideThem) {
  MakeDirectories(directory_ + "/d", 0700);
  ReplaceFile(directory_ + "/a", "", 0600);
  ASSERT_EQ(::symlink("nowhere", (directory_ + "/b").c_str()), 0);

  auto names = FilesIn(directory_);
  ASSERT_TRUE(names);
  std::ranges::sort(*names);
  EXPECT_EQ(*names, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(FilesIn(directory_ + "/none"));
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(File, AreRemovedWithTheirDirectoryAndNotBehindALink) {
  MakeDirectories(directory_ + "/kept", 0700);
  ReplaceFile(directory_ + "/kept/a", "x", 0600);
  MakeDirectories(directory_ + "/gone/d/e", 0700);
  ReplaceFile(directory_ + "/gone/d/a", "x", 0600);
  ASSERT_EQ(::symlink((directory_ + "/kept").c_str(), (directory_ + "/gone/d/link").c_str()), 0);

  RemoveAll(directory_ + "/gone");
  RemoveAll(directory_ + "/none");

  EXPECT_EQ(Entries(), 1U);
  EXPECT_EQ(ReadFile(directory_ + "/kept/a"), "x");
}

}  // namespace
}  // namespace comanda
