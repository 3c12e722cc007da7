#pragma once

// Every setting of the server, from one table (options.cc): name, default, check, help. Sources,
// later ones win: the default, the file comanda.conf in the data directory ("name = value" lines, #
// comments), the command line (--name value). An unknown name refuses to start, with the nearest
// known one.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace comanda::config {

struct Options {
  std::string data_directory;             // data (command line only)
  std::string listen;                     // listen: ADDR:PORT, IPv6 in brackets
  std::string sandbox_listen;             // sandbox_listen: ADDR:PORT; empty: no sandbox
  std::vector<std::string> cors_origins;  // cors_origins: web pages that may call from a browser
  std::vector<std::string> hosts;         // hosts: further names the box answers to (comma list)
  std::string errors_base;                // errors_base
  std::string key_prefix;                 // key_prefix: default cmd
  std::string platform_name;              // platform_name: the provider of the platform's riders
  std::string tls_certificate;  // tls_certificate: PEM file with the chain; empty: own authority
  std::string tls_key;          // tls_key: PEM file
  int workers = 256;            // workers: most connections at once
  int64_t rate_standard_per_minute = 100;  // rate_standard
  int64_t rate_plus_per_minute = 600;      // rate_plus
  int64_t rate_lan_per_minute = 3000;      // rate_lan
  int64_t disk_low_mib = 500;              // disk_low
  int64_t disk_tight_mib = 200;            // disk_tight
  int64_t disk_orders_only_mib = 64;       // disk_orders_only
  int64_t disk_ballast_mib = 32;           // disk_ballast
  std::vector<std::string> metrics_from;   // metrics_from: addresses beside loopback
  std::string log_level;                   // log_level: error warning notice info debug
};

struct Help {
  std::string_view name;
  std::string_view argument;  // "ADDR:PORT"
  std::string_view default_value;
  std::string_view text;
  bool reloadable;  // SIGHUP applies it
};
// The table, for `comanda config --help`.
std::vector<Help> Table();

// Settings given by name ("listen" -> "0.0.0.0:8443"). Refusal (validation_failed, field = the
// name) for an unknown name, a bad value, or a line of the file that cannot be read (with its
// number). `data_directory` must be set in command_line.
Options Load(const std::map<std::string, std::string>& command_line);

// "name = value" lines of the effective settings with the source of each (default, file, command
// line).
std::string Describe(const std::map<std::string, std::string>& command_line);

}  // namespace comanda::config
