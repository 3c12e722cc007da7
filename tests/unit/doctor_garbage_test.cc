// The checks of `comanda doctor` read files that other programs, boards and kernels write. Whatever
// is in them, a check ends, and says something.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "base/file.h"
#include "doctor/checks.h"
#include "doctor/doctor.h"

namespace comanda::doctor {
namespace {

// Every file that a check reads.
constexpr const char* kFiles[] = {
    "/proc/meminfo",
    "/proc/vmstat",
    "/proc/net/tcp",
    "/proc/net/tcp6",
    "/proc/712/comm",
    "/proc/device-tree/model",
    "/proc/device-tree/chosen/power/max_current",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/osrelease",
    "/sys/class/rtc/rtc0/since_epoch",
    "/sys/class/rtc/rtc0/battery_voltage",
    "/sys/class/thermal/thermal_zone0/temp",
    "/sys/class/thermal/thermal_zone0/trip_point_0_type",
    "/sys/class/thermal/thermal_zone0/trip_point_0_temp",
    "/sys/class/hwmon/hwmon0/name",
    "/sys/class/hwmon/hwmon0/in0_lcrit_alarm",
    "/sys/class/watchdog/watchdog0/state",
    "/sys/class/watchdog/watchdog0/identity",
    "/sys/class/net/eth0/carrier",
    "/sys/class/net/eth0/speed",
    "/sys/class/dmi/id/product_name",
    "/sys/bus/platform/drivers/raspberrypi-firmware/soc:firmware/get_throttled",
    "/sys/block/mmcblk0/device/type",
    "/sys/block/mmcblk0/device/life_time",
    "/sys/block/mmcblk0/device/pre_eol_info",
    "/sys/fs/ext4/sda1/errors_count",
    "/sys/fs/cgroup/system.slice/comanda.service/memory.events",
    "/etc/adjtime",
    "/etc/ufw/ufw.conf",
    "/etc/ufw/user.rules",
    "/etc/avahi/services/comanda.service",
    "/etc/systemd/system/comanda.service",
    "/run/avahi-daemon/socket",
    "/var/log/journal/1/system.journal",
    "/data/live.db",
    "/data/live.db-wal",
    "/data/test.db",
    "/data/served",
    "/data/addresses",
    "/data/tls/ca.crt",
    "/data/tls/ca.key",
    "/data/tls/ca.trust",
    "/data/tls/server.crt",
    "/data/tls/server.key",
};

std::string Garbage(std::mt19937& dice) {
  const std::string_view kPieces[] = {"0x",
                                      "-",
                                      "99999999999999999999",
                                      "\n",
                                      "\0",
                                      " ",
                                      "MMC",
                                      "critical",
                                      "0A",
                                      ":20FB",
                                      "{",
                                      "\"",
                                      "</port>",
                                      "<port>",
                                      "dport",
                                      "SQLite format 3",
                                      "-----BEGIN CERTIFICATE-----"};
  std::string text;
  for (size_t left = dice() % 60; left > 0; --left) {
    if (dice() % 2 == 0) {
      text += kPieces[dice() % std::size(kPieces)];
    } else {
      text += static_cast<char>(dice());
    }
  }
  return text;
}

class DoctorGarbage : public testing::Test {
 protected:
  DoctorGarbage() {
    root_ = ::mkdtemp(name_);
    for (const char* file : kFiles) {
      MakeDirectories(DirectoryOf(root_ + file), 0700);
    }
    box_.machine = Machine(root_);
    box_.options.data_directory = root_ + "/data";
    box_.options.listen = "0.0.0.0:8443";
    box_.now = 1'800'000'000'000;
    box_.built = 1'790'000'000'000;
    box_.is_root = true;
  }
  ~DoctorGarbage() override { RemoveAll(root_); }

  char name_[32] = "/tmp/comanda-garbage-XXXXXX";
  std::string root_;
  Box box_;
};

TEST_F(DoctorGarbage, NoCheckTripsOverAnything) {
  std::mt19937 dice(20261123);
  for (int round = 0; round < 60; ++round) {
    for (const char* file : kFiles) {
      const std::string path = root_ + file;
      RemoveAll(path);
      switch (dice() % 8) {
        case 0:
          break;  // missing
        case 1:
          ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
          break;
        case 2:
          // Not among the data: reading a pipe there waits, as the server would, until the time for
          // the check is over (bounded.h).
          if (!std::string_view(file).starts_with("/data/")) {
            ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
          }
          break;
        case 3:
          ASSERT_EQ(::symlink(path.c_str(), path.c_str()), 0);
          break;
        default:
          ReplaceFile(path, Garbage(dice), 0600);
      }
    }
    for (const char* program : {"nft", "smartctl"}) {
      const std::string path = root_ + "/usr/sbin/" + program;
      MakeDirectories(DirectoryOf(path), 0700);
      ReplaceFile(path, round % 2 == 0 ? Garbage(dice) : "#!/bin/sh\nhead -c 5000 /dev/urandom\n",
                  0700);
    }
    box_.addresses.clear();
    if (round % 2 == 0) box_.addresses = {{Garbage(dice), Garbage(dice), true}};
    box_.server.reset();
    if (round % 3 != 0) {
      box_.server = Server{.process = 712, .readiness = Garbage(dice), .metrics = Garbage(dice)};
    }
    for (const Check& check : Checks()) {
      Findings findings;
      try {
        findings = check.run(box_);
      } catch (const std::exception& error) {
        // Becomes a finding (doctor.h), but a check knows better what is wrong.
        ADD_FAILURE() << check.name << " throws in round " << round << ": " << error.what();
      }
      ASSERT_FALSE(findings.empty()) << check.name;
      // Whatever was read, the report is JSON.
      EXPECT_EQ(FromJson(ToJson(findings)).size(), findings.size()) << check.name;
    }
  }
}

TEST_F(DoctorGarbage, TheWholeReportIsSorted) {
  const Findings findings = Examine(box_);
  ASSERT_GE(findings.size(), Checks().size());
  for (size_t i = 1; i < findings.size(); ++i) {
    EXPECT_GE(findings[i - 1].state, findings[i].state);
  }
  for (const Finding& finding : findings) EXPECT_FALSE(finding.check.empty());
}

}  // namespace
}  // namespace comanda::doctor
