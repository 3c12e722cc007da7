#include "doctor/checks.h"

namespace comanda::doctor {

Findings CheckMemory(const Box& box) {
  constexpr int64_t kShareMin = 20;  // of all memory, one in so many
  const std::string info = box.machine.Read("/proc/meminfo").value_or("");
  const auto total_kib = NumberAfter(info, "MemTotal");
  const auto available_kib = NumberAfter(info, "MemAvailable");
  const auto killed = NumberAfter(box.machine.Read("/proc/vmstat").value_or(""), "oom_kill");
  const auto killed_of_ours = NumberAfter(
      box.machine.Read("/sys/fs/cgroup/system.slice/comanda.service/memory.events").value_or(""),
      "oom_kill");
  Findings findings;
  if (killed_of_ours && *killed_of_ours > 0) {
    findings.push_back(Warning("The system has ended the server for its use of memory.",
                               "Tills waited meanwhile. The cause may be a fault of the server.",
                               "journalctl -u comanda -g oom\nsystemctl status comanda"));
  } else if (killed && *killed > 0) {
    findings.push_back(Warning("Since its start the machine has ended " + std::to_string(*killed) +
                                   " processes for lack of memory.",
                               "Something beside the server takes the memory of the box.",
                               "journalctl -k -g 'out of memory'\nps aux --sort=-rss | head"));
  }
  if (!total_kib || !available_kib || *total_kib <= 0) {
    findings.push_back(Well("The memory cannot be measured."));
    return findings;
  }
  const std::string text = std::to_string(*available_kib / 1024) + " MiB of " +
                           std::to_string(*total_kib / 1024) + " MiB of memory are available.";
  if (*available_kib < *total_kib / kShareMin) {
    findings.push_back(Warning(text, "Everything becomes slow, and then processes are ended.",
                               "ps aux --sort=-rss | head"));
  } else {
    findings.push_back(Well(text));
  }
  return findings;
}

}  // namespace comanda::doctor
