#pragma once

// How full the data directory's file system is, and what is refused first: reports and imports,
// then all writes but those of orders and payments, those last. Before anything is refused, the
// copies from before an upgrade are deleted (db/upgrade_copies.h). The ballast is a file
// that only takes up space: it is deleted when there is none left, so that checkpoints and orders
// go on, and made again when space returns.
//
// Also whether the file system refuses all writes (db/read_only.h).
//
// On a file system too small for the settings, shares of its size replace them.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/metrics.h"

namespace comanda::db {

// A later one is fuller.
enum class Fullness : uint8_t {
  kPlenty,
  kLow,         // logs a warning
  kTight,       // refuses reports and imports; suppresses info-level log lines
  kOrdersOnly,  // refuses all writes but those of orders and payments
};

struct SpaceSettings {
  std::string directory;
  int64_t low_bytes;
  int64_t tight_bytes;
  int64_t orders_only_bytes;
  int64_t ballast_bytes;
};

// The thresholds for a file system of that size.
SpaceSettings ScaledTo(int64_t total_bytes, SpaceSettings settings);
// How full it is with that much free space. Hysteresis: the threshold to leave a state is higher
// than the one to enter it, so `before` is the state until now.
Fullness FullnessOf(const SpaceSettings& settings, int64_t free_bytes,
                    Fullness before = Fullness::kPlenty);

class DiskSpace {
 public:
  // Looks for the first time.
  DiskSpace(SpaceSettings settings, metrics::Registry& metrics);

  // Measures, makes or gives up the ballast, logs what changed. One thread, every second.
  void Look();
  // Whether that much can be written and nothing stops. Any thread.
  bool HasRoom(int64_t bytes);
  // For a writer that found no space. True where there is more than before. Any thread.
  bool GiveUpBallast();

  Fullness fullness() const { return fullness_; }
  bool is_read_only() const { return is_read_only_; }
  int64_t free_bytes() const { return free_bytes_; }
  bool has_ballast() const { return has_ballast_; }

 private:
  bool Measure();
  void MakeBallast();

  SpaceSettings settings_;
  const std::string ballast_;  // its path
  std::mutex mutex_;           // one at the ballast
  std::atomic<Fullness> fullness_{Fullness::kPlenty};
  std::atomic<bool> is_read_only_{false};
  std::atomic<int64_t> free_bytes_{0};
  std::atomic<bool> has_ballast_{false};
  metrics::Gauge free_gauge_;
  metrics::Gauge ballast_gauge_;
};

}  // namespace comanda::db
