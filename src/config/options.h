#pragma once

// All settings of the server. One table (options.cc) has the name, default, check and help text of
// each.
//
// A setting comes from, in increasing priority: its default; the file comanda.conf in the data
// directory ("name = value" lines, # starts a comment); the command line (--name value). An unknown
// name or a bad value is an error that prevents the start; the message suggests the nearest known
// name.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comanda::config {

// The settings as the rest of the program uses them. A reload (App::Reload) loads a new object and
// copies from it what may change while the server runs: such a field is read by that thread alone,
// others may be read by any. Where a field has another name than its setting, the setting is given.
struct Options {
  // Setting `data`; command line only.
  std::string data_directory;
  // `comanda-head` alone: libpq's words for the connection to the database, and the file with the
  // password of its user; empty: none is needed.
  std::string database;
  std::string database_password_file;
  // ADDR:PORT, IPv6 in brackets.
  std::string listen;
  // ADDR:PORT; empty: no sandbox.
  std::string sandbox_listen;
  // ADDR:PORT of plain HTTP; empty: only where systemd passes one.
  std::string setup_listen;
  // Ranges (CIDR) of the proxies that tell the addresses of their clients (wire/forwarded.h).
  std::vector<std::string> proxy_networks;
  // Origins of web pages whose scripts may call the API.
  std::vector<std::string> cors_origins;
  // Names of the box accepted in Host, besides its own.
  std::vector<std::string> hosts;
  // URL prefix of `type` in problem documents (contract section 2).
  std::string errors_base;
  // First part of new API keys.
  std::string key_prefix;
  // Name of the provider of the platform's riders.
  std::string platform_name;
  // PEM file with the chain; empty: a certificate of the box's own authority.
  std::string tls_certificate;
  // PEM file with the private key.
  std::string tls_key;
  // Threads that serve requests, hence the most connections at once.
  int workers = 256;
  // The share of them, in percent, on which long polls may wait; the others stay free.
  int64_t long_polls_percent = 50;
  // Settings `rate_...`: requests a minute of each tier (contract section 4).
  int64_t rate_standard_per_minute = 100;
  int64_t rate_plus_per_minute = 600;
  int64_t rate_lan_per_minute = 3000;
  // Settings `disk_...`: free disk space in MiB below which the server warns, refuses reports
  // and imports, and writes orders and payments only (db/disk_space.h).
  int64_t disk_low_mib = 500;
  int64_t disk_tight_mib = 200;
  int64_t disk_orders_only_mib = 64;
  // Size in MiB of the file deleted when the disk is full.
  int64_t disk_ballast_mib = 32;
  // Absolute directories that a backup without a target goes to; empty: none.
  std::vector<std::string> backup_to;
  // How many days and weeks of rotating backups are kept (backups/rotation.h).
  int64_t backup_keep = 7;
  int64_t backup_keep_weekly = 4;
  // File with the passphrase that seals backups; empty: they are plain directories.
  std::string backup_passphrase_file;
  // Addresses that may read /metrics, besides loopback.
  std::vector<std::string> metrics_from;
  // PEM file with authorities that webhooks' receivers may have beside the system's; empty: none.
  std::string webhook_ca;
  // Ranges (CIDR) of which webhooks may call the private addresses and those of loopback, beside
  // the box's own subnets.
  std::vector<std::string> webhook_networks;
  // The header with the platform's own signature of a webhook.
  std::string webhook_signature_header;
  // https://HOST[:PORT][/PREFIX] of the cloud, and a PEM file with the authorities that it may have
  // instead of the system's; empty: what `comanda cloud link` was told (cloud/link/link.h).
  std::string cloud_url;
  std::string cloud_ca_file;
  int64_t cloud_poll_seconds = 15;
  int64_t cloud_quota_share = 70;  // percent
  // The name in the cloud of the provider whose riders are users of the company.
  std::string cloud_rider_provider;
  // error, warning, notice, info or debug.
  std::string log_level;
};

// One row of the table, for `comanda config --help`.
struct Help {
  std::string_view name;
  // Placeholder for the value: "ADDR:PORT".
  std::string_view argument;
  std::string_view default_value;
  std::string_view text;
  // True if SIGHUP applies a changed value without a restart.
  bool reloadable;
};
std::vector<Help> Table();

// The data directory that the command line names, or else the default. Throws as Load().
std::string DataDirectory(const std::map<std::string, std::string>& command_line);

// Combines all sources. `command_line` maps names to values ("listen" -> "0.0.0.0:8443"). Throws
// Refusal(kValidationFailed) whose field is the name of the setting, for an unknown name, a bad
// value, or a line of the file that cannot be parsed (with its number); Fault if the file cannot be
// read.
Options Load(const std::map<std::string, std::string>& command_line);

// The settings of a data directory without its comanda.conf, for a report on one that cannot be
// read. Throws nothing for a directory that is not empty text.
Options Defaults(const std::string& data_directory);

// A new value of a setting in comanda.conf; no value: its line is removed, and the default applies.
struct Change {
  std::string name;
  std::optional<std::string> value;
};

// Changes comanda.conf in the data directory, and keeps its comments and the order of its lines.
class FileChange {
 public:
  // Reads the file and applies the changes to its content. Writes nothing. Throws as Load(), also
  // for a line of the file that is not changed; Refusal for a value that no line of the file can
  // hold (a line break, a # after a blank).
  FileChange(const std::string& data_directory, const std::vector<Change>& changes);

  // The settings after the change, if the command line gives no others.
  const Options& options() const { return options_; }
  // True if a running server takes the change over when it is reloaded, false if it must be
  // restarted.
  bool reloadable() const { return reloadable_; }
  // Replaces the file. Blocks until it is on disk. Fault if it cannot be written.
  void Write() const;

 private:
  const std::string data_directory_;
  std::string content_;
  Options options_;
  bool reloadable_ = true;
};

// The effective settings as "name = value" lines, each with its source in a comment. Throws like
// Load().
std::string Describe(const std::map<std::string, std::string>& command_line);

}  // namespace comanda::config
