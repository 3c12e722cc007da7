#pragma once

// `comanda selftest`: checks a running server (this box, its sandbox, or a cloud) against the whole
// contract through its API, and reports every deviation.
//
// The contract adds to the specification: endpoints, headers, fields, codes. A server that serves
// no /v1/openapi.json is not a Comanda and is judged by the specification: an addition that it
// lacks is reported as not served, which is no deviation.
//
// It leaves behind only what the API cannot delete, and lists it at the end: the orders it created,
// cancelled; one hidden product; the keys it created, revoked. Its webhooks it deletes.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/authorities.h"
#include "net/network.h"

namespace comanda::selftest {

struct Settings {
  // The base URL, "https://box:8443", possibly with a path before /v1.
  std::string url;
  // Never part of a report.
  std::string key;
  // The authorities to trust for https; null: none.
  std::shared_ptr<const crypto::Authorities> authorities;
  // Called between checks. True ends the run early; what it created is still tidied up.
  std::function<bool()> interrupted = [] { return false; };
};

// The result of a check, and its name in reports.
enum class Verdict : uint8_t { kOk, kDiffers, kNotServed, kNotChecked };
constexpr std::string_view Name(Verdict result) {
  switch (result) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kDiffers:
      return "differs";
    case Verdict::kNotServed:
      return "not served";
    case Verdict::kNotChecked:
      return "not checked";
  }
  return {};
}

// What a server is judged by.
enum class Yardstick : uint8_t { kContract, kSpecification };

// One deviation: what was examined, what the contract requires, and what the server returned.
struct Difference {
  std::string what;
  std::string expected;
  std::string got;
};

// The result of one check. The views refer to constants.
struct CheckResult {
  std::string_view subject;
  // What was checked, for technicians.
  std::string_view name;
  // The section of the contract.
  std::string_view section;
  // The rule of the contract.
  std::string_view words;
  Verdict result = Verdict::kOk;
  // Why it was not checked, or a remark.
  std::string note;
  std::vector<Difference> differences;
};

// Something that the run created and that remains on the server.
struct Remnant {
  // The reference of an order or a webhook, the sku of a product, or the name of a key.
  std::string reference;
  // Empty if no answer had it.
  std::string id;
  std::string public_id;
  // The last known status; empty if unknown.
  std::string status;
  std::string_view kind = "order";
};

// The result of a run.
struct Summary {
  Yardstick yardstick = Yardstick::kContract;
  // The endpoints of the contract that the specification does not name and the server does not
  // have.
  std::vector<std::string> endpoints_not_served;
  std::vector<CheckResult> outcomes;
  std::vector<Remnant> remnants;
  // Time spent waiting for the server's rate limit.
  int64_t waited_s = 0;

  // The number of checks with this result.
  size_t Count(Verdict result) const;
};

// Runs all checks, blocking, and calls `tell` after each. Throws
// Fault(kUnavailable) if nothing answers at the URL.
Summary Run(const Settings& settings, net::Network& network,
            const std::function<void(const CheckResult&)>& tell);

// Reports for a terminal, as lines, and for scripts, as one JSON object.
std::string AsText(const CheckResult& outcome);
std::string AsText(const Summary& summary);
std::string AsJson(const Settings& settings, const Summary& summary);

}  // namespace comanda::selftest
