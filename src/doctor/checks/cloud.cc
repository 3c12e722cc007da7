#include "doctor/checks.h"

namespace comanda::doctor {
namespace {

// A change that waits longer is no short delay.
constexpr double kBehindSecondsMax = 900;

bool Has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

// What the server says of the sync: cloud/status.h, Describe().
Findings CheckCloud(const Box& box) {
  const std::string state = StateOf(box, "sync");
  if (state.empty()) return {Well("Not asked: no server answers.")};
  if (state.starts_with("not linked")) return {Well("This box is not linked to a cloud.")};
  const std::string data = " --data " + box.options.data_directory;
  const std::string look = "comanda cloud status" + data + "     # says what to do";
  const std::string whole = "The sync with the cloud is " + state + ".";
  Findings findings;
  if (state.starts_with("stopped") || state.starts_with("offline") ||
      state.starts_with("cannot be read")) {
    findings.push_back(
        Warning(whole,
                "Sales of this box are not in the cloud yet, and changes in the cloud are not on "
                "this box. Nothing is lost: both are transferred later.",
                look));
  } else if (state.starts_with("paused")) {
    findings.push_back(Warning(whole, "Nothing is sent or read until the sync is resumed.",
                               "comanda cloud resume" + data));
  } else if (Metric(box, "comanda_cloud_behind_seconds").value_or(0) > kBehindSecondsMax) {
    findings.push_back(
        Warning(whole, "Sales of this box are not in the cloud yet. They are sent later.", look));
  }
  if (Has(state, "be read since") || Has(state, "not read since")) {
    findings.push_back(Warning(
        whole,
        "Its changes in the cloud are missing on this box. The box tries again to read them.",
        look));
  }
  if (Has(state, "unreadable")) {
    findings.push_back(
        Warning(whole, "These orders are missing on this box, or differ from those of the cloud.",
                "comanda cloud differences" + data + "     # names them"));
  }
  if (Metric(box, "comanda_cloud_late").value_or(0) > 0) {
    findings.push_back(Warning("The cloud does not answer for some orders, but does for others.",
                               "Changes of the orders without an answer are not in the cloud. The "
                               "box sends them again for a day.",
                               "comanda cloud status" + data +
                                   "     # names them\n"
                                   "comanda cloud retry ORDER" +
                                   data + "     # or: comanda cloud discard ORDER --reason TEXT"));
  }
  if (Metric(box, "comanda_cloud_parked").value_or(0) > 0) {
    findings.push_back(
        Warning("Orders are parked: the cloud refused them, or cancelled an order that is paid on "
                "this box.",
                "Nothing more of them is sent until a person decides.",
                "comanda cloud parked" + data + "     # names them, and what to do"));
  }
  if (findings.empty()) findings.push_back(Well("The cloud: " + state + "."));
  return findings;
}

}  // namespace comanda::doctor
