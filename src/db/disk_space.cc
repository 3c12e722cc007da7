#include "db/disk_space.h"

#include "base/file.h"
#include "base/handle.h"
#include "base/log.h"
#include "base/problem.h"
#include "db/read_only.h"
#include "db/upgrade_copies.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace comanda::db {
namespace {

constexpr int64_t kMegabyte = 1024 * 1024;

int64_t Free(const struct statvfs& space) {
  return static_cast<int64_t>(space.f_bavail * space.f_frsize);
}

}  // namespace

SpaceSettings ScaledTo(int64_t total_bytes, SpaceSettings settings) {
  settings.low_bytes = std::min(settings.low_bytes, total_bytes / 4);
  settings.tight_bytes = std::min(settings.tight_bytes, total_bytes / 8);
  settings.orders_only_bytes = std::min(settings.orders_only_bytes, total_bytes / 16);
  settings.ballast_bytes = std::min(settings.ballast_bytes, total_bytes / 32);
  return settings;
}

Fullness FullnessOf(const SpaceSettings& settings, int64_t free_bytes, Fullness before) {
  const auto below = [&](int64_t mark, Fullness then) {
    return free_bytes < (before >= then ? mark + mark / 16 : mark);
  };
  if (below(settings.orders_only_bytes, Fullness::kOrdersOnly)) return Fullness::kOrdersOnly;
  if (below(settings.tight_bytes, Fullness::kTight)) return Fullness::kTight;
  if (below(settings.low_bytes, Fullness::kLow)) return Fullness::kLow;
  return Fullness::kPlenty;
}

DiskSpace::DiskSpace(SpaceSettings settings, metrics::Registry& metrics)
    : settings_(std::move(settings)),
      ballast_(settings_.directory + "/ballast"),
      free_gauge_(metrics, "comanda_disk_free_bytes", "Free space for the data directory.",
                  [this] { return static_cast<double>(free_bytes_); }),
      ballast_gauge_(metrics, "comanda_disk_ballast", "1: space is kept for orders.",
                     [this] { return has_ballast_ ? 1.0 : 0.0; }) {
  struct statvfs space = {};
  if (::statvfs(settings_.directory.c_str(), &space) == 0) {
    settings_ = ScaledTo(static_cast<int64_t>(space.f_blocks * space.f_frsize), settings_);
  }
  struct stat found = {};
  has_ballast_ = ::stat(ballast_.c_str(), &found) == 0;
  Look();
}

bool DiskSpace::Measure() {
  struct statvfs space = {};
  if (::statvfs(settings_.directory.c_str(), &space) != 0) return false;
  free_bytes_ = Free(space);
  return true;
}

void DiskSpace::Look() {
  is_read_only_ = DirectoryIsReadOnly(settings_.directory);
  if (!Measure() || is_read_only_) return;
  if (has_ballast_ && free_bytes_ < settings_.ballast_bytes / 4) GiveUpBallast();
  const int64_t kept = std::max(settings_.orders_only_bytes, settings_.ballast_bytes);
  if (!has_ballast_ && settings_.ballast_bytes > 0 &&
      free_bytes_ >= kept + settings_.ballast_bytes) {
    MakeBallast();
  }
  const Fullness before = fullness_;
  Fullness now = FullnessOf(settings_, free_bytes_, before);
  if (now >= Fullness::kTight &&
      DeleteUpgradeCopies(settings_.directory, "*", std::numeric_limits<UtcMs>::max())) {
    Measure();
    now = FullnessOf(settings_, free_bytes_, before);
  }
  if (now == before) return;
  fullness_ = now;
  constexpr std::string_view kMeaning[] = {"there is space on the disk again",
                                           "the disk is getting full",
                                           "the disk is nearly full: no reports, no imports",
                                           "the disk is nearly full: orders and payments alone"};
  log::Write(now > before ? log::Level::kWarning : log::Level::kNotice,
             kMeaning[static_cast<size_t>(now)], {{"free_mib", free_bytes_ / kMegabyte}});
}

bool DiskSpace::HasRoom(int64_t bytes) {
  Measure();
  return free_bytes_ - bytes > settings_.tight_bytes;
}

bool DiskSpace::GiveUpBallast() {
  const std::lock_guard lock(mutex_);
  if (!has_ballast_) return false;
  if (::unlink(ballast_.c_str()) != 0) return false;
  has_ballast_ = false;
  Measure();
  log::Warning("the disk is full: gave up the ballast, so that orders go on");
  return true;
}

// Of real blocks. A failure is no news: it is tried again.
void DiskSpace::MakeBallast() {
  const std::lock_guard lock(mutex_);
  const Fd fd(::open(ballast_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return;
  try {
    TakeOwnerOfDirectory(ballast_);
    if (::posix_fallocate(fd.get(), 0, settings_.ballast_bytes) != 0) {
      ::unlink(ballast_.c_str());
      return;
    }
  } catch (const Fault&) {
    return;
  }
  has_ballast_ = true;
  Measure();
}

}  // namespace comanda::db
