#include "backups/place.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"

namespace comanda::backups {
namespace {

class BackupsPlace : public testing::Test {
 protected:
  BackupsPlace() {
    std::string path = (std::filesystem::temp_directory_path() / "comanda-test-XXXXXX").string();
    root = ::mkdtemp(path.data());
  }
  ~BackupsPlace() override { std::filesystem::remove_all(root); }

  std::string root;
};

TEST_F(BackupsPlace, FindsTheMountPointAlsoOfWhatIsNotThere) {
  const std::string point = MountPointOf(root);
  EXPECT_TRUE(root.starts_with(point));
  EXPECT_EQ(MountPointOf(root + "/none/below"), point);
  EXPECT_EQ(MountPointOf("/"), "/");
  // Mounted on every machine.
  EXPECT_EQ(MountPointOf("/proc/self"), "/proc");
  ASSERT_EQ(::symlink("/proc", (root + "/link").c_str()), 0);
  EXPECT_EQ(MountPointOf(root + "/link/none"), "/proc");
}

TEST_F(BackupsPlace, ADiskThatIsAwayIsOneWhosePathIsOnTheFileSystemAbove) {
  MakeDirectories(root + "/usb", 0700);
  const std::string target = root + "/usb/comanda";
  EXPECT_EQ(UnmountedSince(target, root + "/usb"), root + "/usb");
  MakeDirectories(target, 0700);
  EXPECT_EQ(UnmountedSince(target, root + "/usb"), root + "/usb") << "made on the wrong disk";
  EXPECT_EQ(UnmountedSince(target, MountPointOf(root)), "");
  EXPECT_EQ(UnmountedSince(target, "/"), "") << "another disk came where there was none";
  EXPECT_EQ(UnmountedSince(target, ""), "");
  EXPECT_EQ(UnmountedSince(target, "/proc/self"), "") << "the target leads elsewhere now";
}

TEST_F(BackupsPlace, NothingIsMissingOnADiskThatIsMounted) {
  EXPECT_EQ(UnmountedPoint("/proc/self/backups"), "");
}

}  // namespace
}  // namespace comanda::backups
