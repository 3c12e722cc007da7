#include "doctor/checks.h"
#include "base/counted.h"
#include "doctor/checks/unit.h"

namespace comanda::doctor {
namespace {

constexpr int64_t kHourMs = 3'600'000;

std::string Ago(int64_t ms) {
  const int64_t hours = ms / kHourMs;
  if (hours < 1) return "less than an hour ago";
  return hours < 48 ? Counted(hours, "hour ago", "hours ago")
                    : Counted(hours / 24, "day ago", "days ago");
}

}  // namespace

// What the background check of the server knows: every order beside its checksum, the chain of
// events, counts, keys.
Findings CheckRows(const Box& box) {
  constexpr std::string_view kVerify = "comanda verify     # reads everything and names each";
  const auto damaged = Metric(box, "comanda_db_damaged_rows");
  if (!damaged) {
    return {
        Well("Orders and the chain of events were not checked: no server answers. comanda verify "
             "checks them.")};
  }
  Findings findings;
  const bool is_refused = Metric(box, "comanda_db_read_only").value_or(0) > 0;
  if (is_refused && StateOf(box, "database").find("cannot read") != std::string::npos) {
    findings.push_back(Broken(
        "The disk cannot read a part of a database: the database is read, and no longer written.",
        "No order can be taken. The disk is failing: get the data off it.",
        BackupCommand(box) + "\ndmesg --level=emerg,alert,crit,err | tail -20"));
  } else if (is_refused) {
    findings.push_back(
        Broken("A page of a database is malformed: the database is read, and no longer written.",
               "No order can be taken.", RepairCommand(box)));
  }
  if (*damaged > 0) {
    findings.push_back(Broken(std::to_string(static_cast<int64_t>(*damaged)) +
                                  " rows are damaged: they are not as they were written.",
                              "Those orders, events or keys cannot be used; the others can.",
                              kVerify));
  }
  if (Metric(box, "comanda_db_disk_failures_total").value_or(0) > 0) {
    findings.push_back(Broken("The disk has failed a read, a write or a sync since the start.",
                              "It may be dying.",
                              BackupCommand(box) + "\ndmesg --level=err | tail"));
  }
  const double checked_s = Metric(box, "comanda_db_checked_timestamp_seconds").value_or(0);
  const double progress = Metric(box, "comanda_db_check_progress").value_or(0);
  if (findings.empty()) {
    const int64_t age_ms = box.now - static_cast<int64_t>(checked_s) * 1000;
    findings.push_back(
        Well(checked_s > 0 ? "Orders and the chain of events were checked " +
                                 Ago(age_ms < 0 ? 0 : age_ms) + ": no damage is known."
                           : "No damage is known; the check since the start is still under way" +
                                 std::string(progress > 0 ? "" : ", or begins soon") + "."));
  }
  return findings;
}

}  // namespace comanda::doctor
