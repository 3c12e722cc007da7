#include "doctor/checks.h"
#include "base/counted.h"

namespace comanda::doctor {

Findings CheckWebhooks(const Box& box) {
  const auto failing = Metric(box, "comanda_webhooks_failing");
  const auto suspended = Metric(box, "comanda_webhooks_suspended");
  if (!failing || !suspended) return {Well("Not asked: no server answers.")};
  if (*failing + *suspended > 0) {
    return {
        Warning(Counted(static_cast<int64_t>(*failing), "receiver of webhooks fails, ",
                        "receivers of webhooks fail, ") +
                    Counted(static_cast<int64_t>(*suspended), "is suspended.", "are suspended."),
                "Their events wait for 7 days and are lost then.",
                "comanda webhooks list --data " + box.options.data_directory +
                    "     # then: comanda webhooks test ID")};
  }
  return {Well("No receiver of webhooks fails.")};
}

}  // namespace comanda::doctor
