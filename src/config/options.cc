#include "config/options.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/address.h"
#include "base/file.h"
#include "base/text.h"
#include "config/table.h"

namespace comanda::config {
namespace {

constexpr int64_t kRateMax = 1'000'000;
constexpr size_t kListMax = 32;
constexpr size_t kBackupTargetsMax = 8;
constexpr int64_t kBackupsKeptMax = 3650;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

int64_t ParseInteger(const Given& given, int64_t min, int64_t max) {
  int64_t value = 0;
  const char* end = given.value.data() + given.value.size();
  const auto result = std::from_chars(given.value.data(), end, value);
  if (result.ec == std::errc() && result.ptr == end && value >= min && value <= max) return value;
  throw Bad(given, FieldCode::kOutOfRange,
            "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
}

// "dbname" of "host=/run dbname=comanda": whether the words of libpq have a value of that name.
bool HasWord(std::string_view words, std::string_view name) {
  for (size_t at = words.find(name); at != words.npos; at = words.find(name, at + 1)) {
    const bool begins = at == 0 || words[at - 1] == ' ' || words[at - 1] == '\t';
    std::string_view rest = words.substr(at + name.size());
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    if (begins && rest.starts_with('=')) return true;
  }
  return false;
}

std::string_view ValueOfWord(std::string_view words, std::string_view name) {
  for (size_t at = words.find(name); at != words.npos; at = words.find(name, at + 1)) {
    const bool begins = at == 0 || words[at - 1] == ' ';
    std::string_view rest = words.substr(at + name.size());
    if (begins && rest.starts_with('=')) return rest.substr(1, rest.find(' ') - 1);
  }
  return {};
}

// Through a socket of a file system or the loopback.
bool IsOfThisMachine(std::string_view words) {
  for (const std::string_view name : {"host", "hostaddr"}) {
    std::string_view hosts = ValueOfWord(words, name);
    while (!hosts.empty()) {
      const std::string_view host = hosts.substr(0, hosts.find(','));
      if (!host.starts_with('/') && host != "127.0.0.1" && host != "::1" && host != "localhost") {
        return false;
      }
      hosts.remove_prefix(std::min(host.size() + 1, hosts.size()));
    }
  }
  return true;
}

template <int64_t Options::*member>
void ParseRate(const Given& given, Options& options) {
  options.*member = ParseInteger(given, 1, kRateMax);
}

template <int64_t Options::*member>
void ParseMebibytes(const Given& given, Options& options) {
  options.*member = ParseInteger(given, 0, 1'000'000);
}

// Where all of them wait, nobody is answered.
void ParseLongPolls(const Given& given, Options& options) {
  options.long_polls_percent = ParseInteger(given, 0, 90);
}

void ParseWorkers(const Given& given, Options& options) {
  options.workers = static_cast<int>(ParseInteger(given, 8, 2048));
}

// Addresses.

bool IsIpv4(const std::string& text) {
  in_addr address;
  return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

bool IsIpv6(const std::string& text) {
  in6_addr address;
  return inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool IsPort(std::string_view text) {
  if (text.empty() || text.size() > 5 || text.front() == '0') return false;
  if (!std::all_of(text.begin(), text.end(), IsDigit)) return false;
  int port = 0;
  std::from_chars(text.data(), text.data() + text.size(), port);
  return port <= 65535;
}

bool IsListenAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || !IsPort(text.substr(colon + 1))) return false;
  const std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    return IsIpv6(std::string(host.substr(1, host.size() - 2)));
  }
  return IsIpv4(std::string(host));
}

template <std::string Options::*member>
void ParseListen(const Given& given, Options& options) {
  const bool is_off = given.value.empty() && member != &Options::listen;
  if (!is_off && !IsListenAddress(given.value)) {
    throw Bad(
        given, FieldCode::kInvalidFormat,
        "must be a numeric address and a port from 1 to 65535, like 0.0.0.0:8443 or [::]:8443");
  }
  options.*member = given.value;
}

bool IsHostName(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  size_t begin = 0;
  while (true) {
    const size_t end = std::min(text.find('.', begin), text.size());
    const std::string_view label = text.substr(begin, end - begin);
    if (label.empty() || label.size() > 63) return false;
    if (label.starts_with('-') || label.ends_with('-')) return false;
    const bool good = std::all_of(label.begin(), label.end(),
                                  [](char c) { return IsLower(c) || IsDigit(c) || c == '-'; });
    if (!good) return false;
    if (end == text.size()) break;
    begin = end + 1;
  }
  // Digits and dots that are not an IPv4 address are not a host name either.
  return !std::all_of(text.begin(), text.end(), [](char c) { return IsDigit(c) || c == '.'; });
}

// The words between commas; nothing for an empty text.
std::vector<std::string> ParseList(const Given& given, bool (*accepts)(const std::string&),
                                   const std::string& expected) {
  std::vector<std::string> words;
  if (given.value.empty()) return words;
  size_t begin = 0;
  while (begin <= given.value.size()) {
    const size_t end = std::min(given.value.find(',', begin), given.value.size());
    std::string word = AsciiLower(Trimmed(given.value.substr(begin, end - begin)));
    if (!accepts(word)) throw Bad(given, FieldCode::kInvalidFormat, expected);
    if (std::find(words.begin(), words.end(), word) == words.end())
      words.push_back(std::move(word));
    begin = end + 1;
  }
  if (words.size() > kListMax) {
    throw Bad(given, FieldCode::kTooManyItems,
              "must have at most " + std::to_string(kListMax) + " items");
  }
  return words;
}

bool IsAddress(const std::string& text) { return IsIpv4(text) || IsIpv6(text); }

void ParseHosts(const Given& given, Options& options) {
  options.hosts = ParseList(
      given, [](const std::string& word) { return IsAddress(word) || IsHostName(word); },
      "must be names or addresses with commas between them, like caja.local,10.0.0.5");
}

void ParseMetricsFrom(const Given& given, Options& options) {
  options.metrics_from =
      ParseList(given, IsAddress,
                "must be numeric addresses with commas between them, like 10.0.0.7,10.0.0.8");
}

template <std::vector<std::string> Options::*member>
void ParseNetworks(const Given& given, Options& options) {
  options.*member = ParseList(
      given, [](const std::string& word) { return AddressRange::Parse(word).has_value(); },
      "must be addresses or ranges of them with commas between them, like "
      "10.20.0.0/16,127.0.0.1/32");
}

// Words and paths.

void ParseData(const Given& given, Options& options) {
  if (given.value.empty()) {
    throw Bad(given, FieldCode::kEmpty, "must be a directory, like /var/lib/comanda");
  }
  options.data_directory = given.value;
}

bool IsHttpBase(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return false;
  }
  if (rest.empty() || rest.front() == '/' || rest.back() == '/' || text.size() > 200) return false;
  return std::all_of(rest.begin(), rest.end(), [](char c) {
    constexpr std::string_view kOthers = "-._~:/[]%";
    return IsLower(c) || IsUpper(c) || IsDigit(c) || kOthers.find(c) != std::string_view::npos;
  });
}

void ParseCorsOrigins(const Given& given, Options& options) {
  options.cors_origins = ParseList(
      given,
      [](const std::string& word) {
        return IsHttpBase(word) && word.find('/', word.find("//") + 2) == std::string::npos;
      },
      "must be origins with commas between them, like https://panel.example,http://10.0.0.5:3000");
}

void ParseErrorsBase(const Given& given, Options& options) {
  if (!IsHttpBase(given.value)) {
    throw Bad(given, FieldCode::kInvalidFormat,
              "must be an http or https address without a slash at its end, like "
              "https://comanda.example/problems");
  }
  options.errors_base = given.value;
}

void ParseCloudUrl(const Given& given, Options& options) {
  if (!given.value.empty() && (!IsHttpBase(given.value) || !given.value.starts_with("https://"))) {
    throw Bad(given, FieldCode::kInvalidFormat,
              "must be an https address without /v1 and without a slash at its end, like "
              "https://api.example");
  }
  options.cloud_url = given.value;
}

void ParseCloudPoll(const Given& given, Options& options) {
  options.cloud_poll_seconds = ParseInteger(given, 5, 300);
}

void ParseCloudShare(const Given& given, Options& options) {
  options.cloud_quota_share = ParseInteger(given, 1, 100);
}

void ParseKeyPrefix(const Given& given, Options& options) {
  const bool good = given.value.size() >= 2 && given.value.size() <= 16 &&
                    std::all_of(given.value.begin(), given.value.end(),
                                [](char c) { return IsLower(c) || IsDigit(c); });
  if (!good) {
    throw Bad(given, FieldCode::kInvalidFormat,
              "must be 2 to 16 lower-case letters or digits, like cmd");
  }
  options.key_prefix = given.value;
}

template <std::string Options::*member>
void ParseProvider(const Given& given, Options& options) {
  const bool good =
      !given.value.empty() && given.value.size() <= 50 && IsLower(given.value.front()) &&
      std::all_of(given.value.begin(), given.value.end(),
                  [](char c) { return IsLower(c) || IsDigit(c) || c == '-' || c == '_'; });
  if (!good) {
    throw Bad(
        given, FieldCode::kInvalidFormat,
        "must be at most 50 lower-case letters, digits, - or _, and begin with a letter, like "
        "comanda");
  }
  options.*member = given.value;
}

void ParseLogLevel(const Given& given, Options& options) {
  constexpr std::array<std::string_view, 5> kLevels = {"error", "warning", "notice", "info",
                                                       "debug"};
  if (std::find(kLevels.begin(), kLevels.end(), given.value) == kLevels.end()) {
    throw Bad(given, FieldCode::kUnknownValue,
              "must be one of error, warning, notice, info, debug");
  }
  options.log_level = given.value;
}

void ParseSignatureHeader(const Given& given, Options& options) {
  const bool good = given.value.size() >= 2 && given.value.size() <= 60 &&
                    std::all_of(given.value.begin(), given.value.end(), [](char c) {
                      return IsLower(c) || IsUpper(c) || IsDigit(c) || c == '-';
                    });
  if (!good || AsciiLower(given.value).starts_with("webhook-")) {
    throw Bad(given, FieldCode::kInvalidFormat,
              "must be 2 to 60 letters, digits or -, like X-Webhook-Signature, and not begin with "
              "webhook-");
  }
  options.webhook_signature_header = given.value;
}

template <std::string Options::*member>
void ParsePath(const Given& given, Options& options) {
  options.*member = given.value;
}

// Backups.

template <int64_t Options::*member, int64_t min>
void ParseBackupsKept(const Given& given, Options& options) {
  options.*member = ParseInteger(given, min, kBackupsKeptMax);
}

bool IsAbsolutePath(std::string_view text) {
  return text.size() > 1 && text.front() == '/' &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c != '\x7f'; });
}

// Unlike ParseList(), keeps capital letters.
void ParseBackupTo(const Given& given, Options& options) {
  std::vector<std::string> directories;
  std::string_view rest = given.value;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    std::string directory = WithoutSlash(std::string(Trimmed(rest.substr(0, end))));
    if (!IsAbsolutePath(directory)) {
      throw Bad(given, FieldCode::kInvalidFormat,
                "must be directories that begin with / and have commas between them, like "
                "/var/backups/comanda,/mnt/usb/comanda");
    }
    if (std::find(directories.begin(), directories.end(), directory) == directories.end()) {
      directories.push_back(std::move(directory));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (directories.size() > kBackupTargetsMax) {
    throw Bad(given, FieldCode::kTooManyItems,
              "must have at most " + std::to_string(kBackupTargetsMax) + " directories");
  }
  options.backup_to = std::move(directories);
}

void ParsePassphraseFile(const Given& given, Options& options) {
  if (!given.value.empty() && !IsAbsolutePath(given.value)) {
    throw Bad(given, FieldCode::kInvalidFormat,
              "must be a file whose path begins with /, like /etc/comanda-passphrase");
  }
  options.backup_passphrase_file = given.value;
}

// The rules of a connection to a database on another machine: what is between must not read along,
// and the password is not to be in a setting, which `comanda-head config` shows.
void ParseDatabase(const Given& given, Options& options) {
  constexpr std::array<std::string_view, 3> kRefused = {"password", "passfile", "service"};
  for (const std::string_view word : kRefused) {
    if (HasWord(given.value, word)) {
      throw Bad(given, FieldCode::kInvalidFormat,
                "must not have " + std::string(word) +
                    "=: put the password into a file and name it in database_password_file");
    }
  }
  if (!given.value.empty() && !HasWord(given.value, "dbname")) {
    throw Bad(given, FieldCode::kInvalidFormat,
              "must name the database, as in `host=/run/postgresql dbname=comanda user=comanda`");
  }
  if (!IsOfThisMachine(given.value) && !HasWord(given.value, "sslmode")) {
    throw Bad(given, FieldCode::kInvalidFormat,
              "must say how a server on another machine is known: sslmode=verify-full with "
              "sslrootcert=FILE");
  }
  options.database = given.value;
}

// The table of settings.

constexpr std::array kSettings = {
    Setting{"data", "DIR", "/var/lib/comanda",
            "The directory of the databases, the certificates and comanda.conf; it belongs to one "
            "server alone.",
            false, false, ParseData, Program::kComanda},
    Setting{"data", "DIR", "/var/lib/comanda-head",
            "The directory of the certificates and comanda.conf; it belongs to one server alone.",
            false, false, ParseData, Program::kHead},
    Setting{"database", "WORDS", "",
            "How the database is reached, in the words of libpq, such as `host=10.0.0.11,10.0.0.12 "
            "dbname=comanda user=comanda sslmode=verify-full`; without a password.",
            false, true, ParseDatabase, Program::kHead},
    Setting{"database_password_file", "FILE", "",
            "A file with the password of the database's user in its first line, readable by the "
            "server alone; empty: none is needed, or the credential database-password of systemd.",
            false, true, ParsePath<&Options::database_password_file>, Program::kHead},
    Setting{"listen", "ADDR:PORT", "0.0.0.0:8443",
            "The address and port for HTTPS; an IPv6 address stands in brackets.", false, true,
            ParseListen<&Options::listen>},
    Setting{"sandbox_listen", "ADDR:PORT", "",
            "The address and port of the sandbox, such as 0.0.0.0:8444; empty: there is none.",
            false, true, ParseListen<&Options::sandbox_listen>},
    Setting{"setup_listen", "ADDR:PORT", "",
            "The address and port of plain HTTP, where every request is answered with the https "
            "address to use; empty: none but port 80, where comanda-setup.socket is enabled.",
            false, true, ParseListen<&Options::setup_listen>},
    Setting{
        "cors_origins", "URL,...", "",
        "Web pages, such as https://panel.example, whose scripts may call the API from a browser.",
        false, true, ParseCorsOrigins},
    Setting{"hosts", "NAME,...", "",
            "Further names and addresses under which clients reach this server; its own are known.",
            true, true, ParseHosts},
    Setting{"errors_base", "URL", "https://comanda.example/problems",
            "The prefix of the type of every error; the same on all servers of a fleet.", false,
            true, ParseErrorsBase},
    Setting{"key_prefix", "WORD", "cmd", "The first part of every API key.", false, true,
            ParseKeyPrefix},
    Setting{"platform_name", "WORD", "comanda",
            "The provider under which the platform's own riders are named.", false, true,
            ParseProvider<&Options::platform_name>},
    Setting{
        "tls_certificate", "FILE", "",
        "A certificate with its chain in PEM form, with tls_key; without it the server makes its "
        "own.",
        true, true, ParsePath<&Options::tls_certificate>},
    Setting{"tls_key", "FILE", "", "The private key of tls_certificate in PEM form.", true, true,
            ParsePath<&Options::tls_key>},
    Setting{"workers", "N", "256", "The most connections at once, 8 to 2048.", false, true,
            ParseWorkers},
    Setting{"long_polls_percent", "PERCENT", "50",
            "The share of the workers on which long polls may wait, 0 to 90; one more is answered "
            "at once.",
            false, true, ParseLongPolls, Program::kComanda},
    Setting{"long_polls_percent", "PERCENT", "25",
            "The share of the workers on which long polls may wait, 0 to 90; one more is answered "
            "at once.",
            false, true, ParseLongPolls, Program::kHead},
    Setting{"proxy_networks", "CIDR,...", "",
            "Proxies before this server, such as 10.0.0.11,10.0.0.12: the address of a client is "
            "what they write in X-Forwarded-For.",
            false, true, ParseNetworks<&Options::proxy_networks>},
    Setting{"rate_standard", "N", "100", "Requests a minute of a key of the tier standard.", false,
            true, ParseRate<&Options::rate_standard_per_minute>},
    Setting{"rate_plus", "N", "600", "Requests a minute of a key of the tier plus.", false, true,
            ParseRate<&Options::rate_plus_per_minute>},
    Setting{"rate_lan", "N", "3000", "Requests a minute of a key of the tier lan.", false, true,
            ParseRate<&Options::rate_lan_per_minute>},
    Setting{"disk_low", "MIB", "500",
            "Free space in the data directory below which the server logs a warning; at most a "
            "quarter of the disk.",
            false, true, ParseMebibytes<&Options::disk_low_mib>, Program::kComanda},
    Setting{
        "disk_tight", "MIB", "200",
        "Free space below which there are no reports and no imports; of a small disk an eighth.",
        false, true, ParseMebibytes<&Options::disk_tight_mib>, Program::kComanda},
    Setting{"disk_orders_only", "MIB", "64",
            "Free space below which only orders and payments are written; of a small disk a "
            "sixteenth.",
            false, true, ParseMebibytes<&Options::disk_orders_only_mib>, Program::kComanda},
    Setting{
        "disk_ballast", "MIB", "32",
        "Space that is kept for orders when there is none left, in the file ballast; of a small "
        "disk a thirty-second.",
        false, true, ParseMebibytes<&Options::disk_ballast_mib>, Program::kComanda},
    Setting{"backup_to", "DIR,...", "/var/backups/comanda",
            "Where `comanda backup` without a target, and so the daily timer, makes a backup; "
            "each must exist. One on another disk survives this one. Empty: nowhere.",
            true, true, ParseBackupTo, Program::kComanda},
    Setting{"backup_keep", "N", "7",
            "The number of days of which the newest backup is kept, 2 or more. The last two are "
            "always kept.",
            true, true, ParseBackupsKept<&Options::backup_keep, 2>, Program::kComanda},
    Setting{"backup_keep_weekly", "N", "4",
            "The number of weeks of which the newest backup is kept.", true, true,
            ParseBackupsKept<&Options::backup_keep_weekly, 0>, Program::kComanda},
    Setting{"backup_passphrase_file", "FILE", "",
            "A file with a passphrase in its first line, with which backups are encrypted; empty: "
            "they are plain. Keep a copy of it elsewhere: without it they cannot be opened.",
            true, true, ParsePassphraseFile, Program::kComanda},
    Setting{"metrics_from", "ADDR,...", "",
            "Addresses that may read /metrics, beside this machine itself.", false, true,
            ParseMetricsFrom},
    Setting{
        "webhook_ca", "FILE", "",
        "Authorities in PEM form that receivers of webhooks and delivery apps may have, beside the "
        "system's.",
        false, true, ParsePath<&Options::webhook_ca>},
    Setting{"webhook_networks", "CIDR,...", "",
            "Private networks and addresses, such as 10.20.0.0/16, and addresses of loopback, that "
            "webhooks and delivery apps may call beside this machine's own subnets.",
            false, true, ParseNetworks<&Options::webhook_networks>},
    Setting{"webhook_signature_header", "NAME", "X-Webhook-Signature",
            "The header that holds the signature of a webhook beside webhook-signature.", false,
            true, ParseSignatureHeader},
    Setting{"cloud_url", "URL", "",
            "The address of the cloud, without /v1, in place of the one that `comanda cloud link` "
            "was given.",
            false, true, ParseCloudUrl},
    Setting{"cloud_ca_file", "FILE", "",
            "Authorities in PEM form that the cloud may have, in place of the system's.", false,
            true, ParsePath<&Options::cloud_ca_file>},
    Setting{"cloud_poll_seconds", "N", "15",
            "How often a cloud without an event feed is asked for open orders, 5 to 300.", false,
            true, ParseCloudPoll},
    Setting{"cloud_quota_share", "PERCENT", "70",
            "The share of the cloud's rate limit that this server uses, 1 to 100.", false, true,
            ParseCloudShare},
    Setting{"cloud_rider_provider", "WORD", "comanda",
            "The cloud's name for the provider whose riders are users of the company.", false, true,
            ParseProvider<&Options::cloud_rider_provider>},
    Setting{"log_level", "WORD", "info",
            "The least important lines that are logged: error, warning, notice, info or debug.",
            true, true, ParseLogLevel},
};

constexpr bool NamesAreUnique() {
  for (size_t i = 0; i < kSettings.size(); ++i) {
    for (size_t j = i + 1; j < kSettings.size(); ++j) {
      if (kSettings[i].name == kSettings[j].name &&
          (kSettings[i].program == kSettings[j].program || kSettings[i].program == Program::kBoth ||
           kSettings[j].program == Program::kBoth)) {
        return false;
      }
    }
  }
  return true;
}
static_assert(NamesAreUnique());

}  // namespace

std::span<const Setting> Settings() {
  static const std::vector<Setting> settings = [] {
    std::vector<Setting> of_program;
    for (const Setting& setting : kSettings) {
      const bool is_of_program = setting.program == Program::kBoth || setting.program == kProgram;
      if (is_of_program) of_program.push_back(setting);
    }
    return of_program;
  }();
  return settings;
}

std::vector<Help> Table() {
  std::vector<Help> table;
  for (const Setting& setting : Settings()) {
    table.push_back(
        {setting.name, setting.argument, setting.default_value, setting.text, setting.reloadable});
  }
  return table;
}

void CheckTogether(const Options& options) {
  if (options.disk_low_mib < options.disk_tight_mib ||
      options.disk_tight_mib < options.disk_orders_only_mib) {
    throw Invalid("disk_tight", FieldCode::kOutOfRange,
                  "disk_low, disk_tight and disk_orders_only must not rise in this order");
  }
  if (options.tls_certificate.empty() == options.tls_key.empty()) return;
  const bool key_missing = options.tls_key.empty();
  throw Invalid(key_missing ? "tls_key" : "tls_certificate", FieldCode::kRequired,
                "tls_certificate and tls_key are given together or not at all");
}

Refusal Bad(const Given& given, FieldCode code, std::string message) {
  message += " (" + std::string(given.where) + ")";
  return Invalid(std::string(given.name), code, std::move(message));
}

}  // namespace comanda::config
