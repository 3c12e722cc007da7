#include "config/options.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/problem.h"
#include "config/table.h"

namespace comanda::config {
namespace {

// A data directory of its own, with comanda.conf where a text is given.
class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    std::string name = testing::TempDir() + "/comanda_config_XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~ConfigTest() override {
    remove((directory_ + "/comanda.conf").c_str());
    remove(directory_.c_str());
  }

  using CommandLine = std::map<std::string, std::string>;

  CommandLine With(CommandLine command_line = {}) const {
    command_line["data"] = directory_;
    return command_line;
  }

  void WriteFile(const std::string& text) { ReplaceFile(directory_ + "/comanda.conf", text, 0600); }

  // "field code: message" of the refusal, or "accepted".
  static std::string RefusalOf(const CommandLine& command_line) {
    try {
      Load(command_line);
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.problem, Problem::kValidationFailed);
      EXPECT_EQ(refusal.errors.size(), 1u);
      const FieldError& error = refusal.errors.front();
      return error.field + " " + std::string(Name(error.code)) + ": " + error.message;
    }
    return "accepted";
  }

  std::string Setting(const std::string& name, const std::string& value) const {
    return RefusalOf(With({{name, value}}));
  }

  std::string directory_;
};

TEST_F(ConfigTest, HasDefaultsForEverything) {
  const Options options = Load(With());

  EXPECT_EQ(options.data_directory, directory_);
  EXPECT_EQ(options.listen, "0.0.0.0:8443");
  EXPECT_TRUE(options.hosts.empty());
  EXPECT_EQ(options.errors_base, "https://comanda.example/problems");
  EXPECT_EQ(options.key_prefix, "cmd");
  EXPECT_EQ(options.platform_name, "comanda");
  EXPECT_EQ(options.tls_certificate, "");
  EXPECT_EQ(options.tls_key, "");
  EXPECT_EQ(options.workers, 256);
  EXPECT_EQ(options.rate_standard_per_minute, 100);
  EXPECT_EQ(options.rate_plus_per_minute, 600);
  EXPECT_EQ(options.rate_lan_per_minute, 3000);
  EXPECT_TRUE(options.metrics_from.empty());
  EXPECT_EQ(options.log_level, "info");
}

TEST_F(ConfigTest, LetsTheCommandLineWinOverTheFileAndTheFileOverTheDefault) {
  WriteFile("listen = 10.0.0.5:443\nworkers = 64\n");

  const Options options = Load(With({{"workers", "128"}}));

  EXPECT_EQ(options.listen, "10.0.0.5:443");
  EXPECT_EQ(options.workers, 128);
  EXPECT_EQ(options.rate_plus_per_minute, 600);
}

TEST_F(ConfigTest, ReadsAFileAsPeopleWriteIt) {
  WriteFile(
      "# our box\r\n\r\n  workers=32  \t\r\nlog_level\t=  debug # while we look\r\n"
      "hosts = Caja.local , 10.0.0.5,fe80::1,caja.local\r\nlisten = [::]:8443");

  const Options options = Load(With());

  EXPECT_EQ(options.workers, 32);
  EXPECT_EQ(options.log_level, "debug");
  EXPECT_EQ(options.hosts, (std::vector<std::string>{"caja.local", "10.0.0.5", "fe80::1"}));
  EXPECT_EQ(options.listen, "[::]:8443");
}

TEST_F(ConfigTest, RefusesAnUnknownNameWithTheNearestKnownOne) {
  EXPECT_EQ(Setting("listn", "x"),
            "listn unknown_field: is not a setting; did you mean listen? (--listn)");
  EXPECT_EQ(Setting("log-level", "info"),
            "log-level unknown_field: is not a setting; did you mean log_level? (--log-level)");
  EXPECT_EQ(Setting("colour_of_the_door", "x"),
            "colour_of_the_door unknown_field: is not a setting; comanda config --help lists them "
            "(--colour_of_the_door)");
  WriteFile("workers = 64\n\nworkrs = 32\n");
  EXPECT_EQ(RefusalOf(With()),
            "workrs unknown_field: is not a setting; did you mean workers? (comanda.conf, line 3)");
}

TEST_F(ConfigTest, RefusesLinesThatItCannotRead) {
  WriteFile("workers = 64\nlisten 0.0.0.0:8443\n");
  EXPECT_EQ(RefusalOf(With()),
            "comanda.conf invalid_format: a line must be name = value, or begin with # "
            "(comanda.conf, line 2)");

  WriteFile("workers = 64\n = 32\n");
  EXPECT_EQ(RefusalOf(With()),
            "comanda.conf invalid_format: a line must be name = value, or begin with # "
            "(comanda.conf, line 2)");

  WriteFile(std::string("listen = 0.0.0.0:8443\0\n", 23));
  EXPECT_EQ(RefusalOf(With()),
            "comanda.conf invalid_format: must be text: it has a NUL (comanda.conf, line 1)");

  WriteFile("workers = 64\n# x\nworkers = 32\n");
  EXPECT_EQ(RefusalOf(With()),
            "workers duplicate: stands in comanda.conf, line 1 already (comanda.conf, line 3)");

  WriteFile("data = /tmp\n");
  EXPECT_EQ(
      RefusalOf(With()),
      "data not_allowed: is given on the command line alone, as --data DIR (comanda.conf, line 1)");

  WriteFile("workers = many\n");
  EXPECT_EQ(RefusalOf(With()),
            "workers out_of_range: must be a whole number from 8 to 2048 (comanda.conf, line 1)");
}

TEST_F(ConfigTest, TakesNumericListenAddressesAlone) {
  for (const std::string good : {"127.0.0.1:1", "0.0.0.0:65535", "[::]:8443", "[fe80::1]:443"}) {
    EXPECT_EQ(Setting("listen", good), "accepted") << good;
  }
  for (const std::string bad :
       {"", ":8443", "8443", "0.0.0.0", "localhost:8443", "0.0.0.0:0", "0.0.0.0:65536",
        "0.0.0.0:", "0.0.0.0:08", "0.0.0.0:8443x", "1.2.3:80", "1.2.3.256:80", "::1:8443", "[::1]",
        "[1.2.3.4]:80", "[::1:80", "0.0.0.0:+80", "0.0.0.0 :80"}) {
    EXPECT_NE(Setting("listen", bad), "accepted") << bad;
  }
}

TEST_F(ConfigTest, BoundsNumbers) {
  EXPECT_EQ(Setting("workers", "8"), "accepted");
  EXPECT_EQ(Setting("workers", "2048"), "accepted");
  EXPECT_EQ(Setting("rate_lan", "1"), "accepted");
  for (const std::string bad :
       {"", "7", "2049", "-8", "+8", "8.0", " 8", "0x10", "99999999999999999999"}) {
    EXPECT_NE(Setting("workers", bad), "accepted") << bad;
  }
  for (const std::string name : {"rate_standard", "rate_plus", "rate_lan"}) {
    EXPECT_NE(Setting(name, "0"), "accepted") << name;
    EXPECT_NE(Setting(name, "1000001"), "accepted") << name;
  }
}

TEST_F(ConfigTest, GivesEachRateToItsTier) {
  const Options options =
      Load(With({{"rate_standard", "11"}, {"rate_plus", "22"}, {"rate_lan", "33"}}));

  EXPECT_EQ(options.rate_standard_per_minute, 11);
  EXPECT_EQ(options.rate_plus_per_minute, 22);
  EXPECT_EQ(options.rate_lan_per_minute, 33);
}

TEST_F(ConfigTest, ChecksWords) {
  EXPECT_EQ(Setting("key_prefix", "pos2"), "accepted");
  for (const std::string bad : {"", "c", "CMD", "cmd_", "abcdefghijklmnopq", "ñu"}) {
    EXPECT_NE(Setting("key_prefix", bad), "accepted") << bad;
  }
  EXPECT_EQ(Setting("platform_name", "my-brand_2"), "accepted");
  for (const std::string bad : {"", "Comanda", "2go", "a b"}) {
    EXPECT_NE(Setting("platform_name", bad), "accepted") << bad;
  }
  EXPECT_EQ(Setting("log_level", "warning"), "accepted");
  EXPECT_EQ(Setting("log_level", "WARN"),
            "log_level unknown_value: must be one of error, warning, notice, info, debug "
            "(--log_level)");
}

TEST_F(ConfigTest, ChecksAddresses) {
  for (const std::string good :
       {"https://a.example/problems", "http://10.0.0.5:8443", "https://x"}) {
    EXPECT_EQ(Setting("errors_base", good), "accepted") << good;
  }
  for (const std::string bad :
       {"", "https://", "https:///x", "ftp://a", "a.example", "https://a/", "https://a b",
        "https://a?x=1", "https://a#x", "HTTPS://a", "https://á"}) {
    EXPECT_NE(Setting("errors_base", bad), "accepted") << bad;
  }
  EXPECT_EQ(Setting("hosts", ""), "accepted");
  for (const std::string bad :
       {",", "a,", "a,,b", "a b", "-a", "a-", "a..b", "1.2.3", "a:80", "[::1]"}) {
    EXPECT_NE(Setting("hosts", bad), "accepted") << bad;
  }
  EXPECT_EQ(Setting("metrics_from", "10.0.0.7, ::1"), "accepted");
  EXPECT_NE(Setting("metrics_from", "caja.local"), "accepted");
}

TEST_F(ConfigTest, TakesCertificateAndKeyTogetherAlone) {
  EXPECT_EQ(RefusalOf(With({{"tls_certificate", "/c.pem"}, {"tls_key", "/k.pem"}})), "accepted");
  EXPECT_EQ(Setting("tls_certificate", "/c.pem"),
            "tls_key required: tls_certificate and tls_key are given together or not at all");
  EXPECT_EQ(
      Setting("tls_key", "/k.pem"),
      "tls_certificate required: tls_certificate and tls_key are given together or not at all");
}

TEST_F(ConfigTest, RefusesAnEmptyDataDirectory) {
  EXPECT_EQ(RefusalOf({{"data", ""}}),
            "data empty: must be a directory, like /var/lib/comanda (--data)");
}

TEST_F(ConfigTest, DescribesEverySettingWithItsSource) {
  WriteFile("workers = 64\n");

  const std::string text = Describe(With({{"log_level", "debug"}}));

  EXPECT_NE(text.find("# data = " + directory_ + "  # --data\n"), std::string::npos) << text;
  EXPECT_NE(text.find("workers = 64  # comanda.conf, line 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("log_level = debug  # --log_level\n"), std::string::npos) << text;
  EXPECT_NE(text.find("listen = 0.0.0.0:8443  # default\n"), std::string::npos) << text;
  EXPECT_NE(text.find("hosts = # default\n"), std::string::npos) << text;
}

TEST_F(ConfigTest, ReadsItsOwnDescriptionAsAFile) {
  WriteFile("workers = 64\nhosts = caja.local\n");
  const std::string described = Describe(With());
  WriteFile(described);

  const Options options = Load(With());

  EXPECT_EQ(options.workers, 64);
  EXPECT_EQ(options.hosts, (std::vector<std::string>{"caja.local"}));
  EXPECT_TRUE(options.metrics_from.empty());
}

TEST_F(ConfigTest, ListsEverySettingWithAFullSentenceOfHelp) {
  const std::vector<Help> table = Table();

  EXPECT_EQ(table.size(), Settings().size());
  for (const Help& row : table) {
    EXPECT_FALSE(row.argument.empty()) << row.name;
    EXPECT_TRUE(row.text.ends_with('.')) << row.name;
  }
}

}  // namespace
}  // namespace comanda::config
