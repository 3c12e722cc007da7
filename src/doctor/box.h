#pragma once

// What is known of the box before its checks run. A plain value: tests make one.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "config/options.h"
#include "db/disk_space.h"
#include "doctor/machine.h"

namespace comanda::doctor {

// An address of an interface, loopback excluded.
struct InterfaceAddress {
  std::string interface;   // "eth0"
  std::string address;     // numeric
  bool is_leased = false;  // it ends unless a DHCP server or router renews it
  bool operator==(const InterfaceAddress&) const = default;
};

// The process that holds the lock of the data directory.
struct Server {
  int64_t process = 0;  // its id; 0: not known
  // The answers of its control socket to /readyz and /metrics; nothing if there was none.
  std::optional<std::string> readiness;
  std::optional<std::string> metrics;
  std::string trouble;         // why there is no answer
  bool is_refused_us = false;  // because this user may not speak to it
};

// The clock as the kernel keeps it.
struct KernelClock {
  std::string state;     // ops::ClockState()
  double drift_ppm = 0;  // by how much it corrects the clock's rate, in millionths
};

struct Box {
  Machine machine;
  config::Options options;       // in force; defaults where settings_trouble says so
  std::string settings_trouble;  // why the settings cannot be used; empty: they can
  bool is_read_only = false;     // the disk of the data (db/read_only.h)
  bool is_data_readable = true;  // whether this user may look into the data directory
  db::SpaceSettings space;       // the thresholds of free space that the settings name
  int64_t schema = 0;            // that this program knows; databases may be of an earlier one
  UtcMs now = 0;
  UtcMs built = 0;  // the program's build date
  KernelClock clock;
  bool is_root = false;          // whether this process is
  std::optional<Server> server;  // nothing: no process holds the data directory
  std::vector<InterfaceAddress> addresses;
};

// The part of "ADDR:PORT" behind the last colon; 0 if it is none.
int PortOf(std::string_view listen);

// The sum of a metric over all its labels; nothing if the server's answer does not have it.
std::optional<double> Metric(const Box& box, std::string_view name);

// One check of /readyz.
struct Readiness {
  std::string name;
  bool ok = true;
  std::string state;
};
// Those of the server's answer; empty if there is none or it makes no sense.
std::vector<Readiness> ReadinessOf(const Box& box);
// The state of the check with that name; empty if the answer has none.
std::string StateOf(const Box& box, std::string_view name);

}  // namespace comanda::doctor
