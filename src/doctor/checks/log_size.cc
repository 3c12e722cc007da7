#include "doctor/checks.h"

namespace comanda::doctor {

Findings CheckLog(const Box& box) {
  constexpr int64_t kMebibyte = 1024 * 1024;
  constexpr int64_t kBytesMax = 1024 * kMebibyte;
  const bool is_kept = box.machine.IsThere("/var/log/journal");
  const int64_t bytes = box.machine.BytesBelow(is_kept ? "/var/log/journal" : "/run/log/journal");
  const std::string text =
      "The journal has " + std::to_string(bytes / kMebibyte) + " MiB" +
      (is_kept ? "." : " and is in memory: a restart of the machine deletes it.");
  if (bytes <= kBytesMax) return {Well(text)};
  return {Warning(text, "It takes space that orders need, and writing it wears out the disk.",
                  "journalctl --vacuum-size=200M\n"
                  "mkdir -p /etc/systemd/journald.conf.d\n"
                  "printf '[Journal]\\nSystemMaxUse=200M\\n' "
                  ">/etc/systemd/journald.conf.d/size.conf\n"
                  "systemctl restart systemd-journald")};
}

}  // namespace comanda::doctor
