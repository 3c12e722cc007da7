#include <algorithm>

#include "base/problem.h"
#include "base/problem_text.h"
#include "doctor/checks.h"
#include "doctor/checks/unit.h"
#include "ops/certificates.h"

namespace comanda::doctor {

namespace {

// Names that the authority may not sign. A new authority is the cure only where the owner has named
// them in the settings: for a host name that was changed it would cost a visit to every device, and
// the name with .local goes on.
Finding LeftOut(const Box& box, const std::string& names) {
  const std::string what =
      "The box's authority may not certify these names of the machine: " + names + ".";
  const bool is_named = std::ranges::any_of(WordsOf(names), [&](std::string_view name) {
    return std::ranges::find(box.options.hosts, name) != box.options.hosts.end();
  });
  if (!is_named) return Well(what + " Devices use NAME.local or a private address.");
  return Warning(what,
                 "Devices that connect by one of them refuse the box; NAME.local and private "
                 "addresses always work.",
                 "comanda tls renew-authority     # it asks: every device must install it");
}

}  // namespace

Findings CheckCertificate(const Box& box) {
  if (!box.is_data_readable) return {Well("Not looked at: this user may not.")};
  constexpr std::string_view kWhy = "Tills and displays refuse the connection.";
  const auto day = [](UtcMs at) { return FormatInstant(at).substr(0, 10); };
  // A clock that is wrong is reported by its own check; the dates are compared with it all the
  // same.
  const ops::CertificateTimes times{.wall = box.now, .settled = box.now, .built = box.built};
  ops::CertificateReport report;
  try {
    report = ops::InspectCertificate(box.options, ops::MachineNames(box.options), times);
  } catch (const Refusal& refusal) {
    return {Broken("The certificate cannot be used: " + InWords(refusal) + ".", kWhy,
                   "comanda config --data " + box.options.data_directory)};
  } catch (const Fault& fault) {
    return {Broken("The certificate cannot be used: " + fault.cause + ".", kWhy,
                   "ls -l " + box.options.data_directory + "/tls")};
  }
  if (!report.trouble.empty()) {
    const bool is_refused = report.trouble.starts_with("devices refuse");
    Finding finding = Warning(report.trouble + ".",
                              is_refused ? kWhy : "Devices refuse the box once it has ended.",
                              "comanda tls renew-authority     # it asks; read the above first");
    if (!box.options.tls_certificate.empty()) {
      finding.command = "systemctl reload comanda     # after renewing the certificate";
    }
    if (is_refused) finding.state = State::kBroken;
    return {finding};
  }
  if (!report.left_out.empty()) return {LeftOut(box, report.left_out)};
  if (!report.server || report.will_be_made) {
    return {Well(box.server ? "The server makes a new certificate within a minute."
                            : "The server makes a certificate when it starts.")};
  }
  std::string text = "The certificate is valid until " + day(report.server->not_after);
  if (report.authority) {
    text += " and renews itself; its authority until " + day(report.authority->not_after);
    return {Well(text + ".")};
  }
  constexpr int64_t kSoonMs = 14 * 86'400'000LL;
  if (report.server->not_after - box.now > kSoonMs) return {Well(text + ".")};
  return {Warning(text + ". It is not the box's own, so the box does not renew it.",
                  "Tills and displays refuse the connection after that day.",
                  "systemctl reload comanda     # after renewing the files of tls_certificate")};
}

}  // namespace comanda::doctor
