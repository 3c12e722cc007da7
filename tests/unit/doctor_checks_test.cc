// Each check of `comanda doctor` on prepared trees of /sys, /proc and /etc.

#include "doctor/checks.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "backups/place.h"
#include "backups/results.h"
#include "base/file.h"
#include "doctor/checks/units.h"
#include "ops/addresses.h"
#include "support/waiting.h"

namespace comanda::doctor {
namespace {

constexpr int64_t kDayMs = 86'400'000;
const UtcMs kBuilt = ParseInstant("2026-11-01T00:00:00Z").value();

// The head of a database file as SQLite writes it.
std::string Head(uint32_t pages, uint32_t schema) {
  std::string head(2048, '\0');
  head.replace(0, 16, std::string("SQLite format 3\0", 16));
  const auto put = [&](size_t at, uint32_t value) {
    for (int i = 0; i < 4; ++i)
      head[at + static_cast<size_t>(i)] = static_cast<char>(value >> (24 - 8 * i));
  };
  head[16] = 8;  // pages of 2048 bytes
  put(28, pages);
  put(60, schema);
  put(68, 0x434d4441);
  return head;
}

// A machine of files in a directory of its own.
class DoctorChecks : public ::testing::Test {
 protected:
  DoctorChecks() {
    root_ = ::mkdtemp(name_);
    data_ = root_ + "/data";
    MakeDirectories(data_, 0700);
    box_.machine = Machine(root_, comanda::testing::kPatienceMs);
    box_.options.data_directory = data_;
    box_.options.listen = "0.0.0.0:8443";
    box_.space = {.directory = data_,
                  .low_bytes = 0,
                  .tight_bytes = 0,
                  .orders_only_bytes = 0,
                  .ballast_bytes = 0};
    box_.built = kBuilt;
    box_.now = kBuilt + 20 * kDayMs;
    box_.clock.state = "synchronised";
    box_.is_root = true;
  }
  ~DoctorChecks() override { RemoveAll(root_); }

  void Put(const std::string& path, const std::string& content, mode_t mode = 0644) {
    MakeDirectories(DirectoryOf(root_ + path), 0755);
    ReplaceFile(root_ + path, content, mode);
  }
  void Link(const std::string& target, const std::string& path) {
    MakeDirectories(DirectoryOf(root_ + path), 0755);
    ASSERT_EQ(::symlink(target.c_str(), (root_ + path).c_str()), 0);
  }
  // A backup of which nothing is missing.
  void PutBackup(const std::string& path) {
    Put(path + "/live.db", Head(1, 5));
    Put(path + "/B2SUMS", std::string(128, 'a') + "  live.db\n");
  }
  void PutGoodHardwareClock() {
    Put("/sys/class/rtc/rtc0/since_epoch", std::to_string(box_.now / 1000) + "\n");
  }
  // A server that answers with these metrics.
  void Run(const std::string& metrics, const std::string& readiness = R"({"checks":{}})") {
    box_.server = Server{.process = 712, .readiness = readiness, .metrics = metrics};
  }

  char name_[32] = "/tmp/comanda-doctor-XXXXXX";
  std::string root_;
  std::string data_;
  Box box_;
};

// The findings of that state that have these words somewhere.
::testing::AssertionResult Has(const Findings& findings, State state, const std::string& words) {
  std::string all;
  for (const Finding& finding : findings) {
    const std::string text = finding.what + " | " + finding.why + " | " + finding.command;
    if (finding.state == state && text.find(words) != std::string::npos) {
      return ::testing::AssertionSuccess();
    }
    all += std::string(Name(finding.state)) + ": " + text + "\n";
  }
  return ::testing::AssertionFailure() << "no " << Name(state) << " with '" << words << "':\n"
                                       << all;
}

::testing::AssertionResult IsWell(const Findings& findings) {
  if (findings.empty()) return ::testing::AssertionFailure() << "it says nothing";
  for (const Finding& finding : findings) {
    if (finding.state != State::kWell) return ::testing::AssertionFailure() << finding.what;
  }
  return ::testing::AssertionSuccess();
}

// Clock.

TEST_F(DoctorChecks, AClockThatIsSynchronisedIsWell) {
  PutGoodHardwareClock();
  EXPECT_TRUE(IsWell(CheckClock(box_)));
}

TEST_F(DoctorChecks, AClockBeforeTheBuildIsBroken) {
  box_.now = 180'000;
  const Findings findings = CheckClock(box_);
  EXPECT_EQ(findings.size(), 1u) << "nothing else about clocks is worth saying then";
  EXPECT_TRUE(Has(findings, State::kBroken, "1970-01-01 00:03 UTC"));
  EXPECT_TRUE(Has(findings, State::kBroken, "date -s"));
}

TEST_F(DoctorChecks, AClockOf2038IsBroken) {
  box_.now = ParseInstant("2038-01-19T03:14:07Z").value();
  EXPECT_TRUE(Has(CheckClock(box_), State::kBroken, "2038-01-19 03:14 UTC"));
}

TEST_F(DoctorChecks, ABoxOfNineYearsHasARightClock) {
  box_.now = kBuilt + 9 * 365 * kDayMs;
  PutGoodHardwareClock();
  EXPECT_TRUE(IsWell(CheckClock(box_)));
}

TEST_F(DoctorChecks, AClockThatIsNotSynchronisedIsAWarning) {
  PutGoodHardwareClock();
  for (const char* state : {"not synchronised", "unknown"}) {
    box_.clock.state = state;
    EXPECT_TRUE(Has(CheckClock(box_), State::kWarning, "apt install systemd-timesyncd")) << state;
  }
}

TEST_F(DoctorChecks, NamesTheProgramThatKeepsTheClock) {
  PutGoodHardwareClock();
  box_.clock.state = "not synchronised";
  Put("/usr/lib/systemd/system/chrony.service", "");
  EXPECT_TRUE(Has(CheckClock(box_), State::kWarning, "systemctl enable --now chrony "));
  Put("/lib/systemd/system/systemd-timesyncd.service", "");
  EXPECT_TRUE(Has(CheckClock(box_), State::kWarning, "systemctl enable --now systemd-timesyncd "));
}

TEST_F(DoctorChecks, AQuartzThatDriftsIsAWarning) {
  PutGoodHardwareClock();
  box_.clock.drift_ppm = -450;
  EXPECT_TRUE(Has(CheckClock(box_), State::kWarning, "38.9 s a day"));
}

TEST_F(DoctorChecks, AMissingAWrongOrAnEmptyHardwareClockIsAWarning) {
  EXPECT_TRUE(Has(CheckClock(box_), State::kWarning, "no hardware clock"));
  Put("/sys/class/rtc/rtc0/since_epoch", "1000\n");
  EXPECT_TRUE(Has(CheckClock(box_), State::kWarning, "hwclock --systohc"));
  Put("/etc/adjtime", "0.0 0 0.0\n0\nLOCAL\n");
  EXPECT_TRUE(IsWell(CheckClock(box_)));
  Put("/sys/class/rtc/rtc0/battery_voltage", "12000\n");
  EXPECT_TRUE(Has(CheckClock(box_), State::kWarning, "no battery"));
}

TEST_F(DoctorChecks, TellsAStepThatTheServerSaw) {
  PutGoodHardwareClock();
  Run("",
      R"({"checks":{"clock":{"ok":true,"state":"synchronised; it was stepped to 2026-12-01"}}})");
  EXPECT_TRUE(Has(CheckClock(box_), State::kWarning, "it was stepped to 2026-12-01"));
}

// Program and service.

TEST_F(DoctorChecks, AServerOfAReplacedProgramIsAWarning) {
  Run("");
  Link("/usr/bin/comanda", "/proc/712/exe");
  EXPECT_TRUE(IsWell(CheckProgram(box_)));
  ASSERT_EQ(::unlink((root_ + "/proc/712/exe").c_str()), 0);
  Link("/usr/bin/comanda (deleted)", "/proc/712/exe");
  EXPECT_TRUE(Has(CheckProgram(box_), State::kWarning, "systemctl restart comanda"));
}

TEST_F(DoctorChecks, NamesTheBoard) {
  Put("/proc/device-tree/model", std::string("Raspberry Pi 5 Model B Rev 1.0\0", 31));
  EXPECT_TRUE(Has(CheckProgram(box_), State::kWell, "on Raspberry Pi 5 Model B Rev 1.0, Linux"));
}

TEST_F(DoctorChecks, AProgramOfHalfAYearIsAWarning) {
  EXPECT_TRUE(Has(CheckUpdates(box_), State::kWell, "built on 2026-11-01, 20 days ago."));
  box_.now = kBuilt + 180 * kDayMs;
  EXPECT_TRUE(IsWell(CheckUpdates(box_)));
  box_.now = kBuilt + 181 * kDayMs;
  EXPECT_TRUE(Has(CheckUpdates(box_), State::kWarning, "181 days ago"));
}

TEST_F(DoctorChecks, AnOldProgramOfABoxWithoutATimeServerIsWell) {
  box_.now = kBuilt + 400 * kDayMs;
  for (const char* state : {"not synchronised", "unknown"}) {
    box_.clock.state = state;
    EXPECT_TRUE(IsWell(CheckUpdates(box_))) << state;
    EXPECT_TRUE(Has(CheckUpdates(box_), State::kWell, "400 days ago")) << state;
  }
}

TEST_F(DoctorChecks, AClockBeforeTheBuildTellsNoAge) {
  box_.now = 180'000;
  EXPECT_TRUE(Has(CheckUpdates(box_), State::kWell, "built on 2026-11-01. Newer"));
}

TEST_F(DoctorChecks, SaysWhereNewerProgramsComeFrom) {
  box_.now = kBuilt + 181 * kDayMs;
  EXPECT_TRUE(Has(CheckUpdates(box_), State::kWarning, "./install.sh"));
  Put("/usr/share/doc/comanda/changelog.gz", "");
  EXPECT_TRUE(Has(CheckUpdates(box_), State::kWarning, "then: apt install ./ITS-FILE.deb"));
  Put("/etc/apt/sources.list.d/comanda.sources",
      "Types: deb\nURIs: https://a:b@packages.example\n");
  EXPECT_TRUE(Has(CheckUpdates(box_), State::kWarning, "apt update && apt install comanda"));
  EXPECT_FALSE(Has(CheckUpdates(box_), State::kWarning, "packages.example"));
}

TEST_F(DoctorChecks, AStoppedServerIsBroken) {
  EXPECT_TRUE(Has(CheckService(box_), State::kBroken, "comanda serve --data " + data_));
  Put("/usr/lib/systemd/system/comanda.service",
      "[Service]\nExecStart=/usr/bin/comanda serve --data " + data_ + "\nUser=comanda\n");
  EXPECT_TRUE(Has(CheckService(box_), State::kBroken, "systemctl start comanda"));
}

TEST_F(DoctorChecks, AServiceThatIsNotEnabledOrMaskedIsAWarning) {
  Run("");
  const std::string unit = "[Service]\nExecStart=/usr/bin/comanda serve --data " + data_ + "/\n";
  Put("/usr/lib/systemd/system/comanda.service", unit);
  EXPECT_TRUE(Has(CheckService(box_), State::kWarning, "systemctl enable comanda"));
  Link("/usr/lib/systemd/system/comanda.service",
       "/etc/systemd/system/multi-user.target.wants/comanda.service");
  EXPECT_TRUE(IsWell(CheckService(box_)));
}

TEST_F(DoctorChecks, AServiceOfAnotherDirectoryIsNotThisOne) {
  Run("");
  Put("/usr/lib/systemd/system/comanda.service",
      "[Service]\nExecStart=/usr/bin/comanda serve --data /var/lib/comanda\n");
  EXPECT_TRUE(IsWell(CheckService(box_)));
}

TEST_F(DoctorChecks, AMaskedServiceIsNamed) {
  box_.options.data_directory = "/var/lib/comanda";
  Link("/dev/null", "/etc/systemd/system/comanda.service");
  EXPECT_TRUE(Has(CheckService(box_), State::kWarning, "masked"));
  EXPECT_TRUE(Has(CheckService(box_), State::kBroken, "systemctl unmask comanda"));
}

// The units of the package, as an installation leaves them, and what systemd says of them.
class DoctorUnits : public DoctorChecks {
 protected:
  DoctorUnits() {
    box_.options.backup_to = {"/var/backups/comanda"};
    Put("/usr/lib/systemd/system/comanda.service",
        "[Service]\nExecStart=/usr/bin/comanda serve --data " + data_ + "\n");
    for (const PackageUnit& unit : PackageUnits()) {
      Put("/usr/lib/systemd/system/" + std::string(unit.name), "[Unit]\n");
      if (unit.installed == Installed::kEnabled) Enable(unit.name);
    }
    MakeDirectories(root_ + "/run/systemd/system", 0755);
    Run("");
  }

  std::string Wanted(std::string_view unit) {
    return "/etc/systemd/system/" +
           std::string(unit.ends_with(".timer") ? "timers.target" : "comanda.service") + ".wants/" +
           std::string(unit);
  }
  void Enable(std::string_view unit) {
    Link("/usr/lib/systemd/system/" + std::string(unit), Wanted(unit));
  }
  void Disable(std::string_view unit) { RemoveAll(root_ + Wanted(unit)); }
  void Mask(std::string_view unit) {
    Link("/dev/null", "/etc/systemd/system/" + std::string(unit));
  }
  // What systemctl says: "active" of each unit but those.
  void Say(const std::map<std::string, std::string>& states) {
    std::string text;
    for (const PackageUnit& unit : PackageUnits()) {
      const auto found = states.find(std::string(unit.name));
      const std::string state = found == states.end() ? "active" : found->second;
      text += "Result=" + std::string(state == "failed" ? "resources" : "success") +
              "\nId=" + std::string(unit.name) + "\nActiveState=" + state + "\n\n";
    }
    Put("/usr/bin/systemctl", "#!/bin/sh\ncat <<END\n" + text + "END\n", 0755);
  }
};

TEST_F(DoctorUnits, AsInstalledAreWell) {
  EXPECT_TRUE(IsWell(CheckUnits(box_))) << "systemd cannot be asked";
  Say({{"comanda-https.socket", "inactive"}, {"comanda-backup.service", "inactive"}});
  EXPECT_TRUE(IsWell(CheckUnits(box_)));
}

TEST_F(DoctorUnits, ADisabledTimerIsAWarning) {
  Disable("comanda-backup.timer");
  EXPECT_TRUE(Has(CheckUnits(box_), State::kWarning, "comanda-backup.timer is disabled"));
  EXPECT_TRUE(
      Has(CheckUnits(box_), State::kWarning, "systemctl enable --now comanda-backup.timer"));
  box_.options.backup_to.clear();
  EXPECT_TRUE(IsWell(CheckUnits(box_))) << "there is nothing to make";
}

TEST_F(DoctorUnits, AMaskedTimerOrBackupIsAWarning) {
  Mask("comanda-backup.timer");
  EXPECT_TRUE(Has(CheckUnits(box_), State::kWarning, "systemctl unmask comanda-backup.timer"));
  Mask("comanda-backup.service");
  EXPECT_TRUE(Has(CheckUnits(box_), State::kWarning, "systemctl unmask comanda-backup.service"));
}

TEST_F(DoctorUnits, ATimerThatDoesNotRunIsAWarning) {
  Say({{"comanda-backup.timer", "inactive"}});
  EXPECT_TRUE(Has(CheckUnits(box_), State::kWarning, "systemctl start comanda-backup.timer"));
}

TEST_F(DoctorUnits, ThatHaveFailedAreWarnings) {
  Say({{"comanda-setup.socket", "failed"}, {"comanda-backup.service", "failed"}});
  Put("/proc/net/tcp", "0: 00000000:0050 00000000:0000 0A 0:0 0:0 0 0 0 99\n");  // by another one
  const Findings findings = CheckUnits(box_);
  EXPECT_TRUE(Has(findings, State::kWarning, "comanda-setup.socket has failed (resources)"));
  EXPECT_TRUE(Has(findings, State::kWarning, "ss -ltnp 'sport = :80'"));
  EXPECT_TRUE(Has(findings, State::kWarning, "journalctl -u comanda-backup.service"));
}

TEST_F(DoctorUnits, ADisabledSocketIsAWarningUnlessAnotherProgramHasItsPort) {
  Disable("comanda-setup.socket");
  EXPECT_TRUE(Has(CheckUnits(box_), State::kWarning,
                  "systemctl enable comanda-setup.socket && systemctl restart comanda"));
  Put("/proc/net/tcp", "0: 00000000:0050 00000000:0000 0A 0:0 0:0 0 0 0 99\n");
  Link("socket:[99]", "/proc/900/fd/6");
  EXPECT_TRUE(IsWell(CheckUnits(box_)));
  box_.server->process = 900;  // it has the socket until it ends
  EXPECT_TRUE(Has(CheckUnits(box_), State::kWarning, "comanda-setup.socket is disabled"));
  RemoveAll(root_ + "/proc/net/tcp");
  box_.options.setup_listen = "0.0.0.0:8080";
  EXPECT_TRUE(IsWell(CheckUnits(box_))) << "the server listens itself";
}

TEST_F(DoctorUnits, ASocketOfTheOwnersIsLookedAtWhereItIsEnabled) {
  Enable("comanda-https.socket");
  Say({{"comanda-https.socket", "inactive"}});
  EXPECT_TRUE(Has(CheckUnits(box_), State::kWarning, "comanda-https.socket is enabled and does"));
  box_.server.reset();
  EXPECT_TRUE(IsWell(CheckUnits(box_))) << "sockets come with the server";
}

TEST_F(DoctorUnits, OfAnotherDirectoryAreNotLookedAt) {
  box_.options.data_directory = "/srv/other";
  Disable("comanda-backup.timer");
  EXPECT_TRUE(IsWell(CheckUnits(box_)));
}

TEST_F(DoctorChecks, AServerThatDoesNotAnswerIsBroken) {
  box_.server = Server{.process = 712, .trouble = "connection refused"};
  EXPECT_TRUE(Has(CheckService(box_), State::kBroken, "connection refused"));
}

TEST_F(DoctorChecks, AServerThatMayNotBeAskedIsAWarning) {
  box_.server = Server{.process = 712, .is_refused_us = true};
  EXPECT_TRUE(Has(CheckService(box_), State::kWarning, "may not ask"));
}

TEST_F(DoctorChecks, PassesOnWhatTheServerSays) {
  Run("", R"({"checks":{"database":{"ok":false,"state":"the disk is full"},
                       "sandbox":{"ok":true,"state":"cannot be opened"},
                       "sync":{"ok":true,"state":"not linked to a cloud"}}})");
  const Findings findings = CheckServer(box_);
  EXPECT_TRUE(Has(findings, State::kBroken, "the disk is full"));
  EXPECT_TRUE(Has(findings, State::kWarning, "sandbox: cannot be opened"));
  EXPECT_EQ(findings.size(), 2u);
}

// Data.

TEST_F(DoctorChecks, FilesOfAnotherUserAreBroken) {
  if (::geteuid() != 0) GTEST_SKIP() << "files of others are root's to make";
  Put("/data/live.db", "x", 0600);
  ASSERT_EQ(::chown((data_ + "/live.db").c_str(), 65534, 65534), 0);
  EXPECT_TRUE(Has(CheckFiles(box_), State::kBroken, data_ + "/live.db"));
  EXPECT_TRUE(Has(CheckFiles(box_), State::kBroken, "chown -R --reference=" + data_));
}

TEST_F(DoctorChecks, ADirectoryOfRootIsBrokenWhereTheServiceIsAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "the directory is root's only where the test is";
  Put("/etc/systemd/system/comanda.service",
      "[Service]\nExecStart=/usr/bin/comanda serve --data " + data_ + "\nUser=comanda\n");
  EXPECT_TRUE(Has(CheckFiles(box_), State::kBroken, "chown -R comanda: " + data_));
}

TEST_F(DoctorChecks, AModeThatKeepsTheServerOutIsBroken) {
  Put("/data/live.db", "x", 0400);
  EXPECT_TRUE(Has(CheckFiles(box_), State::kBroken,
                  "1 file has a mode that keeps the server from using it: " + data_ + "/live.db"));
  EXPECT_TRUE(Has(CheckFiles(box_), State::kBroken, "chmod -R u+rwX " + data_));
  ASSERT_EQ(::chmod((data_ + "/live.db").c_str(), 0600), 0);
  EXPECT_TRUE(IsWell(CheckFiles(box_)));
  Put("/data/tls/server.key", "x", 0200);
  EXPECT_TRUE(Has(CheckFiles(box_), State::kBroken, "/tls/server.key"));
}

TEST_F(DoctorChecks, SecretsThatOthersReadAreAWarningAndCertificatesAreNone) {
  MakeDirectories(data_ + "/tls", 0700);
  Put("/data/tls/ca.crt", "x", 0644);
  Put("/data/comanda.conf", "x", 0644);
  EXPECT_TRUE(IsWell(CheckFiles(box_)));
  MakeDirectories(data_ + "/credentials", 0700);
  for (const char* secret :
       {"/live.db", "/live.db-wal", "/cloud.key", "/tls/ca.key", "/credentials/rappi.json"}) {
    Put("/data" + std::string(secret), "x", 0640);
    EXPECT_TRUE(Has(CheckFiles(box_), State::kWarning, data_ + secret)) << secret;
    EXPECT_TRUE(Has(CheckFiles(box_), State::kWarning, "chmod -R go= " + data_));
    ASSERT_EQ(::chmod((data_ + secret).c_str(), 0600), 0);
    EXPECT_TRUE(IsWell(CheckFiles(box_))) << secret;
  }
}

TEST_F(DoctorChecks, CredentialsOfRootAreBroken) {
  if (::geteuid() != 0) GTEST_SKIP() << "files of others are root's to make";
  ASSERT_EQ(::chown(data_.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(IsWell(CheckFiles(box_)));
  MakeDirectories(data_ + "/credentials", 0700);
  ASSERT_EQ(::chown((data_ + "/credentials").c_str(), 0, 0), 0);
  EXPECT_TRUE(
      Has(CheckFiles(box_), State::kBroken,
          "1 file does not belong to the owner of " + data_ + ": " + data_ + "/credentials"));
}

TEST_F(DoctorChecks, ADirectoryOfAnotherUserThanTheServicesIsBroken) {
  Put("/etc/systemd/system/comanda.service",
      "[Service]\nExecStart=/usr/bin/comanda serve --data " + data_ + "\nUser=comanda\n");
  const std::string own = std::to_string(::geteuid());
  Put("/etc/passwd", "root:x:0:0::/:\ncomanda:x:" + own + ":1::/:\n");
  ASSERT_EQ(::chown(data_.c_str(), ::geteuid() == 0 ? 65534 : ::geteuid(), ::getegid()), 0);
  if (::geteuid() != 0) {
    EXPECT_TRUE(IsWell(CheckFiles(box_)));
    Put("/etc/passwd", "comanda:x:4711:4711::/:\n");
  }
  EXPECT_TRUE(Has(CheckFiles(box_), State::kBroken, "and the service runs as comanda"));
  EXPECT_TRUE(Has(CheckFiles(box_), State::kBroken, "chown -R comanda: " + data_));
}

TEST_F(DoctorChecks, ADirectoryThatOthersReadIsAWarning) {
  ASSERT_EQ(::chmod(data_.c_str(), 0755), 0);
  EXPECT_TRUE(Has(CheckFiles(box_), State::kWarning, "chmod 700 " + data_));
}

TEST_F(DoctorChecks, ADirectoryThatIsNoneIsBroken) {
  box_.options.data_directory = root_ + "/nothing";
  EXPECT_TRUE(Has(CheckFiles(box_), State::kBroken, "There is no"));
  Put("/nothing", "a file");
  EXPECT_TRUE(Has(CheckFiles(box_), State::kBroken, "no directory"));
}

TEST_F(DoctorChecks, ADatabaseThatIsNoneIsBroken) {
  for (const std::string& content :
       {std::string(), std::string("no database"), std::string(4096, '\xff')}) {
    Put("/data/live.db", content);
    EXPECT_TRUE(Has(CheckDatabase(box_), State::kBroken, "live.db is damaged"));
  }
}

TEST_F(DoctorChecks, ADirectoryInPlaceOfADatabaseIsBroken) {
  MakeDirectories(data_ + "/live.db", 0700);
  EXPECT_TRUE(Has(CheckDatabase(box_), State::kBroken, "it is no regular file"));
}

TEST_F(DoctorChecks, ALostDatabaseIsBrokenAndAnEmptyBoxIsNot) {
  EXPECT_TRUE(Has(CheckDatabase(box_), State::kWarning, "no restaurant yet"));
  Put("/data/tls/server.crt", "");
  EXPECT_TRUE(Has(CheckDatabase(box_), State::kBroken, "live.db is gone"));
  ASSERT_EQ(::unlink((data_ + "/tls/server.crt").c_str()), 0);
  Put("/data/served", "live.db 1 2\n");
  EXPECT_TRUE(Has(CheckDatabase(box_), State::kBroken, "live.db is gone"));
}

TEST_F(DoctorChecks, ADatabaseThatWasCutShortIsBroken) {
  box_.schema = 5;
  Put("/data/live.db", Head(10, 5));
  EXPECT_TRUE(Has(CheckDatabase(box_), State::kBroken, "has 2048 bytes and must have 20480"));
}

TEST_F(DoctorChecks, ADatabaseOfANewerProgramIsBroken) {
  box_.schema = 5;
  Put("/data/live.db", Head(1, 6));
  EXPECT_TRUE(
      Has(CheckDatabase(box_), State::kBroken, "newer program (schema 6; this one knows 5)"));
}

TEST_F(DoctorChecks, TellsDamagedRowsAndFailuresOfTheDisk) {
  Run("comanda_db_damaged_rows{database=\"live\"} 2\ncomanda_db_damaged_rows{database=\"test\"} 1\n"
      "comanda_db_disk_failures_total{database=\"live\"} 4\ncomanda_db_read_only 1\n");
  EXPECT_TRUE(Has(CheckRows(box_), State::kBroken, "3 rows are damaged"));
  EXPECT_TRUE(Has(CheckRows(box_), State::kBroken, "The disk has failed"));
  EXPECT_TRUE(Has(CheckRows(box_), State::kBroken, "no longer written"));
}

TEST_F(DoctorChecks, TellsHowOldTheLastCheckIs) {
  const std::string metrics = "comanda_db_damaged_rows 0\ncomanda_db_checked_timestamp_seconds ";
  Run(metrics + std::to_string(box_.now / 1000 - 5 * 3600) + "\n");
  EXPECT_TRUE(Has(CheckRows(box_), State::kWell, "checked 5 hours ago"));
  Run(metrics + "0\n");
  EXPECT_TRUE(Has(CheckRows(box_), State::kWell, "still under way"));
}

TEST_F(DoctorChecks, SaysOnceThatTheDiskIsReadOnly) {
  EXPECT_TRUE(IsWell(CheckDisk(box_)));
  box_.is_read_only = true;
  EXPECT_TRUE(Has(CheckDisk(box_), State::kBroken, "the card or disk is worn"));
  EXPECT_TRUE(Has(CheckDisk(box_), State::kBroken, "lsblk"));
  box_.options.backup_to = {data_ + "/backups", "/media/nothing/comanda"};
  EXPECT_TRUE(Has(CheckDisk(box_), State::kBroken, "lsblk")) << "none is there on another disk";
  box_.options.backup_to.emplace_back("/proc");  // another file system
  EXPECT_TRUE(Has(CheckDisk(box_), State::kBroken, "comanda backup --data " + data_));
  Run("", R"({"checks":{"database":{"ok":false,"state":"the disk is read-only"},
                       "disk":{"ok":false,"state":"read-only, 90 MiB free"}}})");
  EXPECT_TRUE(IsWell(CheckServer(box_)));
  box_.server = Server{.process = 712, .trouble = "its control socket is missing"};
  EXPECT_TRUE(Has(CheckService(box_), State::kWarning, "cannot make its control socket"));
}

TEST_F(DoctorChecks, JudgesSpaceLikeTheServer) {
  EXPECT_TRUE(IsWell(CheckSpace(box_)));
  constexpr int64_t kAll = INT64_MAX / 32;  // more than any disk: a share of its size counts
  box_.space.low_bytes = kAll;
  const State state = CheckSpace(box_).front().state;
  EXPECT_TRUE(state == State::kWell || state == State::kWarning);
}

// Backups.

constexpr char kNewest[] = "/backups/comanda-000002-20261120T031500Z";

TEST_F(DoctorChecks, BackupsOnTheDiskOfTheDataAreAWarning) {
  box_.options.backup_to = {root_ + "/backups"};
  PutBackup(kNewest);
  PutBackup("/backups/comanda-000001-20261119T031500Z");
  struct stat found {};
  ASSERT_EQ(::stat(root_.c_str(), &found), 0);
  const std::string device = "/sys/dev/block/" + std::to_string(major(found.st_dev)) + ":" +
                             std::to_string(minor(found.st_dev));
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWell, "2 backups in"));
  EXPECT_TRUE(IsWell(CheckBackups(box_))) << "nothing is known of the disk";
  Link("../../devices/pci0000:00/ata1/block/sda/sda2", device);
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "on the disk of the data (sda)"));
}

TEST_F(DoctorChecks, BackupsOnAStickAreSealed) {
  box_.options.backup_to = {root_ + "/backups"};
  PutBackup(kNewest);
  struct stat found {};
  ASSERT_EQ(::stat(root_.c_str(), &found), 0);
  Link("../../devices/pci0000:00/usb2/2-1/block/sdb/sdb1",
       "/sys/dev/block/" + std::to_string(major(found.st_dev)) + ":" +
           std::to_string(minor(found.st_dev)));
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "removable disk (sdb) and not sealed"));
  box_.options.backup_passphrase_file = "/etc/passphrase";
  EXPECT_FALSE(Has(CheckBackups(box_), State::kWarning, "not sealed"));
}

TEST_F(DoctorChecks, OldBackupsAndMissingTargetsAreWarnings) {
  box_.options.backup_to = {root_ + "/backups", root_ + "/none", "/mnt/comanda-no-such-disk/b"};
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "/none, which does not exist"));
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "/b, which is not there: its disk is away"));
  MakeDirectories(root_ + "/backups", 0700);
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "no backup in"));
  PutBackup(kNewest);
  box_.now += 30 * kDayMs;
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "30 days ago"));
  backups::NoteResult(data_,
                      {.target = root_ + "/backups",
                       .tried_at = box_.now,
                       .good_at = 0,
                       .name = "",
                       .problem = "the disk is full"},
                      box_.options.backup_to);
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "failed: the disk is full"));
}

TEST_F(DoctorChecks, ADiskThatIsAwayIsNotMadeAsADirectory) {
  const std::string target = root_ + "/usb/comanda";
  box_.options.backup_to = {target};
  backups::Result result{.target = target, .tried_at = box_.now, .good_at = box_.now, .name = "x"};
  // Of a backup of an older program it is not known where it was.
  backups::NoteResult(data_, result, {target});
  EXPECT_FALSE(Has(CheckBackups(box_), State::kWarning, "install -d")) << "perhaps on a disk";
  result.mount_point = root_ + "/usb";
  backups::NoteResult(data_, result, {target});
  EXPECT_TRUE(
      Has(CheckBackups(box_), State::kWarning, "not mounted on " + root_ + "/usb any more"));
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "then: comanda disk use /dev/NAME "));
  EXPECT_FALSE(Has(CheckBackups(box_), State::kWarning, "install -d"));
  // A directory with its name on the wrong disk changes nothing.
  MakeDirectories(target, 0700);
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "any more"));
  // It was never on another disk, and was deleted.
  RemoveAll(root_ + "/usb");
  result.mount_point = backups::MountPointOf(root_);
  backups::NoteResult(data_, result, {target});
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "install -d -m 700 -o root"));
}

TEST_F(DoctorChecks, BackupsThatOthersCanReadAreAWarning) {
  box_.options.backup_to = {root_ + "/backups"};
  MakeDirectories(root_ + "/backups", 0700);
  backups::NoteResult(
      data_,
      {.target = root_ + "/backups", .tried_at = box_.now, .good_at = box_.now, .is_open = true},
      box_.options.backup_to);
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "everybody who can read the disk"));
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning,
                  "comanda config set backup_passphrase_file /etc/comanda-passphrase"));
  box_.options.backup_passphrase_file = "/etc/passphrase";
  EXPECT_FALSE(Has(CheckBackups(box_), State::kWarning, "everybody who can read the disk"));
}

TEST_F(DoctorChecks, CopiesThatAreNotWholeAreAWarning) {
  box_.options.backup_to = {root_ + "/backups"};
  PutBackup(kNewest);
  EXPECT_FALSE(Has(CheckBackups(box_), State::kWarning, "of the backups in"));
  ReplaceFile(root_ + kNewest + "/live.db", Head(2, 5), 0600);
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "1 of the backups in"));
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "live.db is not as it was"));
  RemoveAll(root_ + kNewest + "/B2SUMS");
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "there is no B2SUMS"));
}

TEST_F(DoctorChecks, ATargetThatTheServiceMayNotWriteIsAWarningWithTheChown) {
  if (::geteuid() != 0) GTEST_SKIP() << "files of others are root's to make";
  ASSERT_EQ(::chmod(root_.c_str(), 0755), 0);
  ASSERT_EQ(::chown(data_.c_str(), 65534, 65534), 0);
  const std::string target = root_ + "/backups";
  box_.options.backup_to = {target};
  MakeDirectories(target, 0755);
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "may not write there: it belongs to root"));
  EXPECT_TRUE(Has(CheckBackups(box_), State::kWarning, "chown nobody: '" + target + "'"));
  ASSERT_EQ(::chown(target.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(Has(CheckBackups(box_), State::kWarning, "may not write there"));
}

// Disk and board.

TEST_F(DoctorChecks, AWornEmmcIsAWarningAndADeadOneBroken) {
  const std::string device = "/sys/block/mmcblk0/device/";
  Put(device + "type", "MMC\n");
  Put(device + "life_time", "0x02 0x01\n");
  Put(device + "pre_eol_info", "0x01\n");
  EXPECT_TRUE(Has(CheckWear(box_), State::kWell, "used up to 20 %"));
  Put(device + "life_time", "0x02 0x0A\n");
  EXPECT_TRUE(Has(CheckWear(box_), State::kWarning, "used up to 100 %"));
  Put(device + "life_time", "0x0B 0x0A\n");
  EXPECT_TRUE(Has(CheckWear(box_), State::kBroken, "end of its life"));
  Put(device + "life_time", "0x01 0x01\n");
  Put(device + "pre_eol_info", "0x02\n");
  EXPECT_TRUE(Has(CheckWear(box_), State::kWarning, "used up to 10 %"));
  Put(device + "pre_eol_info", "0x03\n");
  EXPECT_TRUE(Has(CheckWear(box_), State::kBroken, "end of its life"));
}

TEST_F(DoctorChecks, ACardSaysThatItCannotTell) {
  Put("/sys/block/mmcblk0/device/type", "SD\n");
  Put("/sys/block/mmcblk0boot0/size", "1\n");
  EXPECT_TRUE(Has(CheckWear(box_), State::kWell, "The card mmcblk0 (SD)"));
  EXPECT_EQ(CheckWear(box_).size(), 1u);
}

TEST_F(DoctorChecks, ErrorsOfTheFileSystemAreBroken) {
  Put("/sys/fs/ext4/mmcblk0p2/errors_count", "0\n");
  EXPECT_TRUE(IsWell(CheckWear(box_)));
  Put("/sys/fs/ext4/mmcblk0p2/errors_count", "3\n");
  EXPECT_TRUE(Has(CheckWear(box_), State::kBroken, "mmcblk0p2 has met 3 errors"));
}

TEST_F(DoctorChecks, ReadsSmart) {
  Put("/sys/block/nvme0n1/device/model", "a disk\n");
  EXPECT_TRUE(Has(CheckWear(box_), State::kWell, "apt install smartmontools"));
  const auto answer = [&](const std::string& json) {
    Put("/usr/sbin/smartctl", "#!/bin/sh\necho '" + json + "'\nexit 4\n", 0755);
    return CheckWear(box_);
  };
  EXPECT_TRUE(Has(answer(R"({"smart_status":{"passed":true},
      "nvme_smart_health_information_log":{"percentage_used":7,"media_errors":0}})"),
                  State::kWell, "has used 7 %"));
  EXPECT_TRUE(Has(answer(R"({"nvme_smart_health_information_log":{"percentage_used":93}})"),
                  State::kWarning, "has used 93 %"));
  EXPECT_TRUE(Has(answer(R"({"smart_status":{"passed":false}})"), State::kBroken, "is failing"));
  EXPECT_TRUE(Has(answer(R"({"smart_status":{"passed":true},"ata_smart_attributes":{"table":[
      {"id":5,"raw":{"value":0}},{"id":197,"raw":{"value":8}}]}})"),
                  State::kBroken, "8 places that cannot be read"));
  EXPECT_TRUE(Has(answer(R"({"smart_status":{"passed":true},"ata_smart_attributes":{"table":[
      {"id":5,"raw":{"value":12}}]}})"),
                  State::kWarning, "replaced 12 bad places"));
  EXPECT_TRUE(IsWell(answer("no JSON")));
  box_.is_root = false;
  EXPECT_TRUE(Has(CheckWear(box_), State::kWell, "for root to read"));
}

TEST_F(DoctorChecks, AHotMachineIsAWarningAndOneNearItsEndBroken) {
  EXPECT_TRUE(IsWell(CheckTemperature(box_)));
  const std::string zone = "/sys/class/thermal/thermal_zone0/";
  Put(zone + "temp", "61000\n");
  Put(zone + "trip_point_0_type", "critical\n");
  Put(zone + "trip_point_0_temp", "110000\n");
  EXPECT_TRUE(Has(CheckTemperature(box_), State::kWell, "61 °C"));
  Put(zone + "temp", "84000\n");
  EXPECT_TRUE(Has(CheckTemperature(box_), State::kWarning, "84 °C"));
  Put(zone + "temp", "106000\n");
  EXPECT_TRUE(Has(CheckTemperature(box_), State::kBroken, "switches itself off at 110"));
  Put(zone + "temp", "-2147483648\n");
  EXPECT_TRUE(IsWell(CheckTemperature(box_))) << "a sensor that is not there";
}

TEST_F(DoctorChecks, UndervoltageOfARaspberryPi5) {
  EXPECT_TRUE(Has(CheckPower(box_), State::kWell, "does not report"));
  Put("/sys/class/hwmon/hwmon2/name", "rpi_volt\n");
  Put("/sys/class/hwmon/hwmon2/in0_lcrit_alarm", "0\n");
  EXPECT_TRUE(Has(CheckPower(box_), State::kWell, "No undervoltage"));
  Put("/sys/class/hwmon/hwmon2/in0_lcrit_alarm", "1\n");
  EXPECT_TRUE(Has(CheckPower(box_), State::kBroken, "undervoltage now"));
}

TEST_F(DoctorChecks, UndervoltageThatTheFirmwareRemembers) {
  const std::string file =
      "/sys/bus/platform/drivers/raspberrypi-firmware/soc:firmware/get_throttled";
  Put(file, "0\n");
  EXPECT_TRUE(IsWell(CheckPower(box_)));
  Put(file, "50000\n");
  EXPECT_TRUE(Has(CheckPower(box_), State::kWarning, "undervoltage since the start"));
  Put(file, "50005\n");
  EXPECT_TRUE(Has(CheckPower(box_), State::kBroken, "undervoltage now"));
}

TEST_F(DoctorChecks, AWeakSupplyIsAWarning) {
  Put("/proc/device-tree/chosen/power/max_current", std::string("\0\0\x0b\xb8", 4));
  EXPECT_TRUE(Has(CheckPower(box_), State::kWarning, "offers 3000 mA of 5000"));
}

TEST_F(DoctorChecks, LittleMemoryAndKilledProcessesAreWarnings) {
  Put("/proc/meminfo", "MemTotal:        1000000 kB\nMemAvailable:     600000 kB\n");
  EXPECT_TRUE(IsWell(CheckMemory(box_)));
  Put("/proc/meminfo", "MemTotal:        1000000 kB\nMemAvailable:      20000 kB\n");
  Put("/proc/vmstat", "nr_free_pages 5\noom_kill 3\n");
  EXPECT_TRUE(Has(CheckMemory(box_), State::kWarning, "19 MiB of 976 MiB"));
  EXPECT_TRUE(Has(CheckMemory(box_), State::kWarning, "ended 3 processes"));
  Put("/sys/fs/cgroup/system.slice/comanda.service/memory.events", "low 0\noom_kill 1\n");
  EXPECT_TRUE(Has(CheckMemory(box_), State::kWarning, "ended the server"));
}

TEST_F(DoctorChecks, AWatchdogThatIsNotUsedIsAWarning) {
  EXPECT_TRUE(IsWell(CheckWatchdog(box_)));
  Put("/sys/class/watchdog/watchdog0/identity", "Broadcom BCM2835 Watchdog timer\n");
  Put("/sys/class/watchdog/watchdog0/state", "inactive\n");
  EXPECT_TRUE(Has(CheckWatchdog(box_), State::kWarning, "RuntimeWatchdogSec=30s"));
  Put("/sys/class/watchdog/watchdog1/state", "active\n");
  EXPECT_TRUE(IsWell(CheckWatchdog(box_)));
}

// Network.

TEST_F(DoctorChecks, ACertificateThatIsNotMadeYetIsWell) {
  EXPECT_TRUE(Has(CheckCertificate(box_), State::kWell, "when it starts"));
}

TEST_F(DoctorChecks, AMissingCertificateOfTheOwnerIsBroken) {
  box_.options.tls_certificate = root_ + "/none.crt";
  box_.options.tls_key = root_ + "/none.key";
  EXPECT_TRUE(Has(CheckCertificate(box_), State::kBroken, "none.crt"));
}

constexpr std::string_view kTcpHead =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n";

TEST_F(DoctorChecks, APortThatAnotherProgramHasIsBroken) {
  EXPECT_TRUE(IsWell(CheckPorts(box_)));
  Put("/proc/net/tcp", std::string(kTcpHead) +
                           "   0: 00000000:20FB 00000000:0000 0A 00000000:00000000 00:00000000 "
                           "00000000     0        0 4242 1 0\n");
  EXPECT_TRUE(Has(CheckPorts(box_), State::kBroken, "taken by another program"));
  Put("/proc/900/comm", "nginx\n");
  Link("socket:[4242]", "/proc/900/fd/6");
  EXPECT_TRUE(Has(CheckPorts(box_), State::kBroken, "taken by nginx (process 900)"));
  Run("");
  EXPECT_TRUE(IsWell(CheckPorts(box_)));
}

TEST_F(DoctorChecks, ASocketThatSystemdHoldsIsWell) {
  Put("/proc/net/tcp6", std::string(kTcpHead) +
                            "   0: 00000000000000000000000000000000:20FB "
                            "00000000000000000000000000000000:0000 0A 00000000:00000000 "
                            "00:00000000 00000000     0        0 4242 1 0\n");
  Link("socket:[4242]", "/proc/1/fd/30");
  EXPECT_TRUE(Has(CheckPorts(box_), State::kWell, "systemd holds port 8443"));
}

TEST_F(DoctorChecks, AServerThatDoesNotListenIsBroken) {
  Run("");
  EXPECT_TRUE(Has(CheckPorts(box_), State::kBroken, "nothing listens on port 8443"));
}

TEST_F(DoctorChecks, SaysWhetherAnAddressIsLeased) {
  box_.addresses = {
      {"eth0", "192.168.1.20", true}, {"eth0", "fd00::20", true}, {"wlan0", "10.0.0.3", false}};
  Put("/sys/class/net/eth0/speed", "1000\n");
  const Findings findings = CheckAddresses(box_);
  EXPECT_TRUE(Has(findings, State::kWell, "192.168.1.20 on eth0, 1000 Mbit/s, leased (DHCP)"));
  EXPECT_TRUE(Has(findings, State::kWell, "fd00::20 on eth0, 1000 Mbit/s, lent by the router"));
  EXPECT_TRUE(Has(findings, State::kWell, "10.0.0.3 on wlan0."));
}

TEST_F(DoctorChecks, AnAddressThatChangedIsAWarningForAMonth) {
  box_.addresses = {{"eth0", "192.168.1.31", true}};
  ops::FollowAddresses(data_, {"192.168.1.20"}, box_.now - 2 * kDayMs);
  ops::FollowAddresses(data_, {"192.168.1.31"}, box_.now - kDayMs);
  EXPECT_TRUE(Has(CheckAddresses(box_), State::kWarning, "from 192.168.1.20 to 192.168.1.31"));
  box_.now += 40 * kDayMs;
  EXPECT_TRUE(IsWell(CheckAddresses(box_)));
}

TEST_F(DoctorChecks, NoAddressAndOneOfItsOwnAreBroken) {
  Put("/sys/class/net/eth0/device/vendor", "x\n");
  Put("/sys/class/net/eth0/carrier", "0\n");
  EXPECT_TRUE(Has(CheckAddresses(box_), State::kBroken, "No cable or no signal at eth0"));
  box_.addresses = {{"eth0", "169.254.7.9", false}};
  EXPECT_TRUE(Has(CheckAddresses(box_), State::kBroken, "no DHCP server answered"));
}

TEST_F(DoctorChecks, ANameThatNobodyAnswersForIsAWarning) {
  Put("/proc/sys/kernel/hostname", "Caja\n");
  EXPECT_TRUE(Has(CheckName(box_), State::kWarning, "apt install avahi-daemon"));
  Put("/usr/sbin/avahi-daemon", "", 0755);
  EXPECT_TRUE(Has(CheckName(box_), State::kWarning, "systemctl enable --now avahi-daemon"));
  EXPECT_TRUE(Has(CheckName(box_), State::kWarning, "caja.local"));
  Put("/run/avahi-daemon/socket", "no socket");
  EXPECT_TRUE(Has(CheckName(box_), State::kWarning, "Nobody answers for caja.local"));
}

TEST_F(DoctorChecks, AHostNameThatIsNoNameOfANetworkIsAWarningWithWhatDevicesSee) {
  for (const auto& [host, seen] :
       {std::pair("La Mar", "lamar.local"), std::pair("caja_1.lan", "caja1.local")}) {
    Put("/proc/sys/kernel/hostname", std::string(host) + "\n");
    EXPECT_TRUE(Has(CheckName(box_), State::kWarning, std::string("devices see ") + seen));
  }
  Put("/proc/sys/kernel/hostname", std::string(64, 'x') + "\n");
  EXPECT_TRUE(Has(CheckName(box_), State::kWarning, std::string(63, 'x') + ".local"));
  for (const char* host : {"caja", "CAJA-1", "caja.lan"}) {
    Put("/proc/sys/kernel/hostname", std::string(host) + "\n");
    EXPECT_FALSE(Has(CheckName(box_), State::kWarning, "devices see")) << host;
  }
}

TEST_F(DoctorChecks, AnAnnouncementOfAnotherPortIsAWarning) {
  Put("/proc/sys/kernel/hostname", "caja\n");
  Put("/run/avahi-daemon/socket", "no socket");
  const std::string file = "/etc/avahi/services/comanda.service";
  EXPECT_TRUE(Has(CheckName(box_), State::kWarning, "is missing"));
  Put(file, "<service><port>8443</port></service>");
  EXPECT_FALSE(Has(CheckName(box_), State::kWarning, "another port"));
  Put(file, "<service><port>8443</port></service><service><port>443</port></service>");
  EXPECT_TRUE(Has(CheckName(box_), State::kWarning, "another port than 8443"));
}

TEST_F(DoctorChecks, AFirewallThatDoesNotNameThePortIsFound) {
  EXPECT_TRUE(Has(CheckFirewall(box_), State::kWell, "No firewall was found"));
  const auto answer = [&](const std::string& rules) {
    Put("/usr/sbin/nft", "#!/bin/sh\ncat <<'END'\n" + rules + "\nEND\n", 0755);
    return CheckFirewall(box_);
  };
  EXPECT_TRUE(IsWell(answer("type filter hook input priority filter; policy accept;")));
  const std::string drops = "type filter hook input priority filter; policy drop;\n";
  EXPECT_TRUE(
      Has(answer(drops + "tcp dport 22 accept"), State::kWarning, "no rule names port 8443"));
  EXPECT_TRUE(Has(answer(drops + "tcp dport 18443 accept"), State::kWarning, "no rule names"));
  EXPECT_TRUE(IsWell(answer(drops + "tcp dport { 22, 8443 } accept")));
  EXPECT_TRUE(IsWell(answer(drops + "tcp dport 8000-9000 accept")));
  Put("/etc/ufw/ufw.conf", "ENABLED=yes\n");
  Put("/etc/ufw/user.rules", "-A ufw-user-input -p tcp --dport 22 -j ACCEPT\n");
  EXPECT_TRUE(Has(CheckFirewall(box_), State::kBroken, "ufw allow 8443/tcp"));
  Put("/etc/ufw/user.rules", "-A ufw-user-input -p tcp --dport 8443 -j ACCEPT\n");
  EXPECT_TRUE(IsWell(CheckFirewall(box_)));
}

// The server's own figures.

TEST_F(DoctorChecks, TellsWhatWaits) {
  EXPECT_TRUE(Has(CheckLoad(box_), State::kWell, "no server answers"));
  Run("comanda_db_queue_jobs{database=\"live\"} 1\ncomanda_http_connections 4\n");
  EXPECT_TRUE(IsWell(CheckLoad(box_)));
  Run("comanda_db_queue_jobs{database=\"live\"} 900\ncomanda_http_connections 250\n"
      "comanda_db_commit_seconds_sum 60\ncomanda_db_commit_seconds_count 100\n");
  EXPECT_TRUE(Has(CheckLoad(box_), State::kWarning, "900 writes wait"));
  EXPECT_TRUE(Has(CheckLoad(box_), State::kWarning, "250 of 256 connections"));
  EXPECT_TRUE(Has(CheckLoad(box_), State::kWarning, "takes 600 ms"));
}

TEST_F(DoctorChecks, TellsReceiversThatFail) {
  Run("comanda_webhooks_failing{database=\"live\"} 0\ncomanda_webhooks_suspended 0\n");
  EXPECT_TRUE(IsWell(CheckWebhooks(box_)));
  Run("comanda_webhooks_failing{database=\"live\"} 2\ncomanda_webhooks_suspended 1\n");
  EXPECT_TRUE(
      Has(CheckWebhooks(box_), State::kWarning, "2 receivers of webhooks fail, 1 is suspended"));
}

TEST_F(DoctorChecks, TellsWhatTheKitchenDoesNotSee) {
  const auto kitchen = [&](int stations, int seconds, int muted) {
    Run("comanda_kitchen_stations_unwatched{database=\"live\"} " + std::to_string(stations) +
        "\ncomanda_kitchen_unwatched_seconds{database=\"live\"} " + std::to_string(seconds) +
        "\ncomanda_kitchen_displays_muted{database=\"live\"} " + std::to_string(muted) + "\n");
    return CheckKitchen(box_);
  };
  EXPECT_TRUE(IsWell(kitchen(0, 0, 0)));
  EXPECT_TRUE(Has(kitchen(1, 0, 0), State::kWell, "no display shows; the restaurant is closed"));
  EXPECT_TRUE(Has(kitchen(1, 59, 0), State::kWell, "no display shows, since less than a minute"));
  EXPECT_TRUE(Has(kitchen(1, 3599, 0), State::kWell, "1 station of the kitchen has dishes"));
  EXPECT_TRUE(Has(kitchen(2, 3599, 0), State::kWell, "no display shows, since 59 minutes; the"));
  EXPECT_TRUE(Has(kitchen(2, 3600, 2), State::kWarning, "2 stations of the kitchen have dishes"));
  EXPECT_TRUE(Has(kitchen(2, 3600, 2), State::kWarning, "2 displays of the kitchen are muted"));
  EXPECT_TRUE(Has(kitchen(0, 0, 1), State::kWarning, "1 display of the kitchen is muted"));
}

TEST_F(DoctorChecks, TellsWhatOfTheCloudWaitsForAPerson) {
  const auto state = [&](const std::string& sync, const std::string& metrics = "") {
    Run(metrics);
    box_.server->readiness = R"({"checks":{"sync":{"ok":true,"state":")" + sync + R"("}}})";
    return CheckCloud(box_);
  };
  EXPECT_TRUE(Has(CheckCloud(box_), State::kWell, "no server answers"));
  EXPECT_TRUE(IsWell(state("not linked to a cloud")));
  EXPECT_TRUE(Has(state("in step, 3 s ago"), State::kWell, "in step, 3 s ago"));
  EXPECT_TRUE(IsWell(state("behind: 4 steps")));
  EXPECT_TRUE(Has(state("behind: the menu of the cloud cannot be read since now: status 502"),
                  State::kWarning, "cannot be read since"));
  EXPECT_TRUE(
      Has(state("behind: the menu of the cloud: not read since now"), State::kWarning, "not read"));
  EXPECT_TRUE(Has(state("behind: 1 step, 1 late", "comanda_cloud_late 1\n"), State::kWarning,
                  "does not answer for some orders"));
  EXPECT_TRUE(Has(state("stopped: no key"), State::kWarning, "stopped: no key"));
  EXPECT_TRUE(Has(state("offline since now: x"), State::kWarning, "offline"));
  EXPECT_TRUE(Has(state("paused since now"), State::kWarning, "paused"));
  EXPECT_TRUE(Has(state("behind: 2 parked", "comanda_cloud_parked 2\n"), State::kWarning,
                  "Orders are parked"));
  EXPECT_TRUE(Has(state("behind: 1 order of the cloud is unreadable"), State::kWarning,
                  "comanda cloud differences --data " + box_.options.data_directory));
  EXPECT_TRUE(Has(state("behind: 4 steps, oldest 2 h", "comanda_cloud_behind_seconds 7200\n"),
                  State::kWarning, "oldest 2 h"));
}

TEST_F(DoctorChecks, TellsAppsThatAreSilent) {
  EXPECT_TRUE(IsWell(CheckApps(box_)));
  const auto state = [&](const std::string& apps) {
    Run("");
    box_.server->readiness =
        R"({"checks":{"delivery_apps":{"ok":true,"state":")" + apps + R"("}}})";
    return CheckApps(box_);
  };
  EXPECT_TRUE(Has(state("rappi OPEN"), State::kWell, "rappi OPEN"));
  EXPECT_TRUE(Has(state("rappi UNKNOWN (timeout)"), State::kWarning, "rappi UNKNOWN"));
}

TEST_F(DoctorChecks, MeasuresTheJournal) {
  EXPECT_TRUE(Has(CheckLog(box_), State::kWell, "is in memory"));
  Put("/var/log/journal/0123/system.journal", std::string(3 << 20, 'x'));
  EXPECT_TRUE(Has(CheckLog(box_), State::kWell, "The journal has 3 MiB."));
}

TEST_F(DoctorChecks, MissingZonesAreBroken) {
  EXPECT_TRUE(Has(CheckSystem(box_), State::kBroken, "apt install --reinstall tzdata"));
  EXPECT_TRUE(Has(CheckSystem(box_), State::kWarning, "apt install --reinstall ca-certificates"));
  Put("/usr/share/zoneinfo/Etc/UTC", "TZif");
  Put("/etc/ssl/certs/ca-certificates.crt", "PEM");
  EXPECT_TRUE(IsWell(CheckSystem(box_)));
}

}  // namespace
}  // namespace comanda::doctor
