// What a delivery app says of its orders: the first byte chooses the protocol, the rest is an
// answer to a poll and an order. Whatever it says is refused, or becomes an order whose total is
// the app's.

#include "base/problem.h"
#include "delivery/orders/order_source.h"
#include "delivery/orders/whole_order.h"
#include "fuzz/fuzz.h"
#include "json/reader.h"

namespace comanda {
namespace {

using fuzz::Must;

const delivery::Variables kAccount = {{"merchant_id", "m"}, {"store_id", "900"}};

void ReadAnswer(const delivery::OrderSource& source, const json::Value& answer) {
  const auto report = source.Read(kAccount, answer);
  if (!report) return;
  size_t acknowledged = 0;
  for (const delivery::OrderCall& call : source.Acknowledge(report->events)) {
    acknowledged += json::Document::Parse(call.json).root().items().size();
  }
  Must(acknowledged == 0 || acknowledged == report->events.size(),
       "each event is acknowledged once");
}

void ReadOrder(const delivery::OrderSource& source, const json::Value& details) {
  company::Company company;
  company.currency = "BRL";
  Must(source.Map(json::Document::Parse(source.WithPlainTexts(details, details)).root(),
                  company.currency, 2)
               .total == source.Map(details, company.currency, 2).total,
       "plain texts change no amount");
  const delivery::AppOrder order = source.Map(details, company.currency, 2);
  const delivery::Converted converted =
      delivery::Convert(order, {.name = "app", .display_name = "App"}, company, 1'000);
  Must(converted.whole.order.totals.total == order.total, "the total is the app's");
  Must(order.paid_online <= order.total, "no more is paid than the order costs");
}

}  // namespace
}  // namespace comanda

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace comanda;
  if (size == 0) return 0;
  const auto& source = delivery::SourceOf(static_cast<delivery::Dialect>(data[0] % 4));
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const json::Document document = json::Document::Parse(text);
    ReadAnswer(source, document.root());
    ReadOrder(source, document.root());
  } catch (const Refusal& refusal) {
    fuzz::Must(!refusal.detail.empty(), "a refusal says why");
  }
  return 0;
}
