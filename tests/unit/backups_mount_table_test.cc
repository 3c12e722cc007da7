#include "backups/mount_table.h"

#include <gtest/gtest.h>

namespace comanda::backups {
namespace {

constexpr char kUuid[] = "0a1b2c3d-1111-2222-3333-444455556666";
// What an installer leaves, with the irregularities that people add.
const std::string kTable =
    "# /etc/fstab: static file system information.\n"
    "UUID=aaaa / ext4 errors=remount-ro 0 1\n"
    "\n"
    "  # a comment\tUUID=bbbb /media/usb\n"
    "\t/dev/sdb1\t /mnt/my\\040disk/ \tauto  noauto,x-comanda.backups 0 0 \r\n"
    "one-word\n"
    "//nas/share  /srv/nas cifs credentials=/root/x";

MountedAs Stick(std::string type) {
  return {.uuid = kUuid, .type = std::move(type), .point = "/media/usb", .user = 997, .group = 998};
}

TEST(BackupsMountTable, ReadsLinesAsMountDoes) {
  const auto lines = MountLines(kTable);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].source, "UUID=aaaa");
  EXPECT_EQ(lines[0].point, "/");
  EXPECT_EQ(lines[1].source, "/dev/sdb1");
  EXPECT_EQ(lines[1].point, "/mnt/my disk");
  EXPECT_TRUE(lines[1].HasOption("noauto"));
  EXPECT_FALSE(lines[1].HasOption("auto"));
  EXPECT_FALSE(lines[1].IsOurs()) << "another option begins with our mark";
  EXPECT_EQ(lines[2].type, "cifs");
  EXPECT_EQ(lines[2].options, "credentials=/root/x");
}

TEST(BackupsMountTable, ReadsTextThatMakesNoSense) {
  for (const std::string& text : {std::string(), std::string("\n\n"), std::string("\0\xff \\", 4),
                                  std::string("a \\04 \\999 \\"), std::string("#")}) {
    for (const MountLine& line : MountLines(text)) EXPECT_FALSE(line.IsOurs());
    EXPECT_EQ(WithoutOurLine(text, "/media/usb"), text);
  }
}

TEST(BackupsMountTable, WritesALineThatStartsTheMachineWithoutTheDisk) {
  EXPECT_EQ(LineFor(Stick("ext4")),
            std::string("UUID=") + kUuid +
                " /media/usb ext4 nofail,noatime,nodev,nosuid,x-comanda.backup 0 2");
  EXPECT_EQ(LineFor(Stick("xfs")), std::string("UUID=") + kUuid +
                                       " /media/usb xfs "
                                       "nofail,noatime,nodev,nosuid,x-comanda.backup 0 0");
}

TEST(BackupsMountTable, GivesTheFilesOfAFileSystemWithoutOwnersToTheService) {
  for (const std::string type : {"vfat", "exfat"}) {
    EXPECT_EQ(LineFor(Stick(type)),
              std::string("UUID=") + kUuid + " /media/usb " + type +
                  " nofail,noatime,nodev,nosuid,uid=997,gid=998,dmask=0077,fmask=0177,"
                  "x-comanda.backup 0 0");
    EXPECT_TRUE(IsWithoutOwners(type));
  }
  EXPECT_FALSE(IsWithoutOwners("ext4"));
}

TEST(BackupsMountTable, KnowsWhatMayHoldBackups) {
  for (const char* type : {"ext4", "xfs", "btrfs", "vfat", "exfat"}) EXPECT_TRUE(KnowsType(type));
  for (const char* type : {"ntfs", "iso9660", "swap", "", "LVM2_member", "crypto_LUKS"}) {
    EXPECT_FALSE(KnowsType(type)) << type;
  }
}

TEST(BackupsMountTable, OtherLinesStayByteForByte) {
  const std::string line = LineFor(Stick("ext4"));
  const std::string with = WithLine(kTable, line);
  EXPECT_EQ(with, kTable + "\n" + line + "\n");
  EXPECT_EQ(MountLines(with).size(), 4u);
  EXPECT_TRUE(MountLines(with).back().IsOurs());
  EXPECT_EQ(WithoutOurLine(with, "/media/usb"), kTable + "\n");
  EXPECT_EQ(WithoutOurLine(with, "/media/other"), with);
  EXPECT_EQ(WithLine("", line), line + "\n");
}

TEST(BackupsMountTable, RemovesOurLineAlone) {
  const std::string ours = LineFor(Stick("ext4")) + "\n";
  const std::string theirs = "UUID=cccc /media/usb ext4 defaults 0 2\n";
  EXPECT_EQ(WithoutOurLine(theirs + ours + theirs, "/media/usb"), theirs + theirs);
  EXPECT_EQ(WithoutOurLine(theirs + LineFor(Stick("ext4")), "/media/usb"), theirs) << "no line end";
}

}  // namespace
}  // namespace comanda::backups
