#include <array>

#include "base/problem.h"
#include "db/sqlite/migrate.h"
#include "doctor/checks.h"
#include "doctor/checks/unit.h"
#include "integrity/file.h"
#include "integrity/file_head.h"
#include "integrity/repair.h"

namespace comanda::doctor {
namespace {

constexpr int64_t kMebibyte = 1024 * 1024;
constexpr int64_t kLogBytesMax = 128 * kMebibyte;

constexpr const char* kSandbox = "test.db";

constexpr std::string_view kRestore =
    "comanda verify     # names the damage; then restore a backup (systemd/README.md, Restore)";
constexpr std::string_view kDamageWhy =
    "Orders may be lost or wrong. Whatever damaged it: look after the disk.";

std::string Mebibytes(int64_t bytes) { return std::to_string(bytes / kMebibyte) + " MiB"; }

Finding Damaged(const std::string& name, const std::string& what) {
  return Broken(name + " is damaged: " + what + ".", kDamageWhy, kRestore);
}

// What a look into a database that no server has open finds, in two seconds at most.
Finding LookInto(const Box& box, const std::string& path, const std::string& name,
                 const std::string& text) {
  const integrity::Glance glance = integrity::GlanceAt(path, SystemClock());
  if (integrity::MayBeRepaired(glance.findings)) {
    return Broken(name + " is damaged: " + glance.findings.front().what + ".", kDamageWhy,
                  RepairCommand(box));
  }
  if (!glance.findings.empty()) return Damaged(name, glance.findings.front().what);
  return Well(text + (glance.is_whole ? ": its pages are sound."
                                      : ": it is too large to look at all of it in seconds; "
                                        "comanda verify reads everything."));
}

// How the server, or its next start, takes the file.
Finding CheckUse(const Box& box, const std::string& path, const std::string& name,
                 const integrity::FileHead& head, const std::string& text) {
  const bool is_resting = name == kSandbox && box.options.sandbox_listen.empty();
  if (box.server && is_resting) {
    return Well(text + ". Without an address (sandbox_listen) it is opened for commands alone.");
  }
  if (box.server) return Well(text + ", in use.");
  if (head.log_bytes > 0) {
    return Well(text + ". It was not closed; the next start " +
                (box.is_read_only ? "reads " : "takes in ") + Mebibytes(head.log_bytes) +
                " of its log.");
  }
  try {
    return LookInto(box, path, name, text);
  } catch (const Fault& fault) {
    return Damaged(name, fault.cause);
  }
}

Findings CheckFile(const Box& box, const std::string& name) {
  const std::string path = box.options.data_directory + "/" + name;
  std::optional<integrity::FileHead> found;
  try {
    found = integrity::ReadFileHead(path);
  } catch (const Fault& fault) {
    return {Broken(name + " cannot be read: " + fault.cause + ".",
                   "The server cannot start, or not serve it.",
                   "ls -l " + box.options.data_directory)};
  }
  if (!found) return {};
  const integrity::FileHead& head = *found;
  if (!head.is_sqlite) {
    return {Damaged(name, head.bytes == 0 ? "it is empty" : "it is no longer a database")};
  }
  if (head.application != db::kInUseId && head.application != db::kBackupId) {
    return {Damaged(name, "it is a database of another program")};
  }
  if (head.bytes < head.expected_bytes && head.log_bytes == 0) {
    return {Damaged(name, "it has " + std::to_string(head.bytes) + " bytes and must have " +
                              std::to_string(head.expected_bytes))};
  }
  if (head.schema > box.schema) {
    return {Broken(name + " is of a newer program (schema " + std::to_string(head.schema) +
                       "; this one knows " + std::to_string(box.schema) + ").",
                   "This program does not open it.",
                   "comanda version     # install the newer package again")};
  }
  std::string text =
      name + " has " + Mebibytes(head.bytes) + ", schema " + std::to_string(head.schema);
  const bool is_resting = name == kSandbox && box.options.sandbox_listen.empty();
  if (head.schema < box.schema) {
    text += std::string(is_resting ? "; its next use upgrades it to "
                                   : "; the next start upgrades it to ") +
            std::to_string(box.schema);
  }
  Findings findings;
  if (head.log_bytes > kLogBytesMax) {
    findings.push_back(Warning("The log of " + name + " has " + Mebibytes(head.log_bytes) + ".",
                               "The log is not merged into the database: the disk is slow or full, "
                               "or a reader never ends.",
                               "journalctl -u comanda -n 50\n" + RestartCommand(box)));
  }
  findings.push_back(CheckUse(box, path, name, head, text));
  return findings;
}

}  // namespace

Findings CheckDatabase(const Box& box) {
  if (!box.is_data_readable) return {Well("Not looked at: this user may not.")};
  Findings findings;
  for (const std::string name : {"live.db", kSandbox}) {
    for (Finding& finding : CheckFile(box, name)) findings.push_back(std::move(finding));
  }
  // The head of a file that is there says so; a restaurant that was lost is one that was served.
  const Machine disk;
  if (disk.IsThere(box.options.data_directory + "/live.db")) return findings;
  if (disk.IsThere(box.options.data_directory + "/served") ||
      disk.IsThere(box.options.data_directory + "/live.db-wal") ||
      disk.IsThere(box.options.data_directory + "/tls/server.crt")) {
    findings.push_back(Broken("live.db is gone.", "It held all orders, the menu and the keys.",
                              "ls -l " + box.options.data_directory +
                                  "     # then restore a backup (systemd/README.md, Restore)"));
  } else {
    findings.push_back(Warning("There is no restaurant yet.", "Tills have nothing to sell.",
                               "comanda import demo --data " + box.options.data_directory +
                                   "     # or a file of your own"));
  }
  return findings;
}

}  // namespace comanda::doctor
