#include <sys/statvfs.h>

#include "base/counted.h"
#include "doctor/checks.h"

namespace comanda::doctor {

Findings CheckSpace(const Box& box) {
  constexpr int64_t kMebibyte = 1024 * 1024;
  constexpr uint64_t kFilesMin = 1'000;
  struct statvfs found {};
  const std::string& directory = box.options.data_directory;
  if (::statvfs(directory.c_str(), &found) != 0) {
    return {Well("Not measured: " + directory + " cannot be looked at.")};
  }
  const auto total = static_cast<int64_t>(found.f_blocks * found.f_frsize);
  const auto free = static_cast<int64_t>(found.f_bavail * found.f_frsize);
  const std::string text = std::to_string(free / kMebibyte) + " MiB of " +
                           std::to_string(total / kMebibyte) + " MiB are free for " + directory;
  const std::string command = "du -xh " + directory + " /var | sort -h | tail -20\n" +
                              "journalctl --vacuum-size=100M\napt clean";
  Findings findings;
  switch (db::FullnessOf(db::ScaledTo(total, box.space), free)) {
    case db::Fullness::kPlenty:
      findings.push_back(Well(text + "."));
      break;
    case db::Fullness::kLow:
      findings.push_back(Warning(text + ": the disk is getting full.",
                                 "Reports and imports stop first, then everything but orders.",
                                 command));
      break;
    case db::Fullness::kTight:
      findings.push_back(Broken(text + ": no reports and no imports.",
                                "When it is full, no order can be written.", command));
      break;
    case db::Fullness::kOrdersOnly:
      findings.push_back(Broken(text + ": orders and payments alone are written.",
                                "When it is full, no order can be written.", command));
      break;
  }
  // File systems that make inodes as needed report none.
  if (found.f_files > 0 && found.f_favail < kFilesMin) {
    findings.push_back(
        Broken("The file system of " + directory + " can hold only " +
                   Counted(static_cast<int64_t>(found.f_favail), "more file.", "more files."),
               "Then nothing can be written, although there is space.",
               "du --inodes -x / | sort -n | tail -20"));
  }
  return findings;
}

}  // namespace comanda::doctor
