#include "doctor/checks.h"

namespace comanda::doctor {

Findings CheckWebhooks(const Box& box) {
  const auto failing = Metric(box, "comanda_webhooks_failing");
  const auto suspended = Metric(box, "comanda_webhooks_suspended");
  if (!failing || !suspended) return {Well("Not asked: no server answers.")};
  const auto count = [](double value) { return std::to_string(static_cast<int64_t>(value)); };
  if (*failing + *suspended > 0) {
    return {Warning(
        count(*failing) + " receivers of webhooks fail, " + count(*suspended) + " are suspended.",
        "Their events wait for 7 days and are lost then.",
        "comanda webhooks list --data " + box.options.data_directory +
            "     # then: comanda webhooks test ID")};
  }
  return {Well("No receiver of webhooks fails.")};
}

}  // namespace comanda::doctor
