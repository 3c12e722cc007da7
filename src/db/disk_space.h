#pragma once

// How full the data directory's file system is, and what stops first: reports and imports, then all
// but orders and payments, those last. Before anything stops, the copies from before an upgrade are
// deleted. A ballast file keeps space for them: it is given up when
// there is none left, so that checkpoints and orders go on, and made again when space returns.
//
// A file system too small for the settings gets shares of its size instead.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/metrics.h"

namespace comanda::db {

// The fuller the later.
enum class Fullness : uint8_t {
  kPlenty,
  kLow,         // it is told
  kTight,       // no reports, imports or lines of the log that tell of nothing wrong
  kOrdersOnly,  // no writes but of orders and payments
};

struct SpaceSettings {
  std::string directory;
  int64_t low_bytes;
  int64_t tight_bytes;
  int64_t orders_only_bytes;
  int64_t ballast_bytes;
};

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
  int64_t free_bytes() const { return free_bytes_; }
  bool has_ballast() const { return has_ballast_; }

 private:
  bool Measure();
  Fullness Judge() const;
  void MakeBallast();

  SpaceSettings settings_;
  const std::string ballast_;  // its path
  std::mutex mutex_;           // one at the ballast
  std::atomic<Fullness> fullness_{Fullness::kPlenty};
  std::atomic<int64_t> free_bytes_{0};
  std::atomic<bool> has_ballast_{false};
  metrics::Gauge free_gauge_;
  metrics::Gauge ballast_gauge_;
};

}  // namespace comanda::db
