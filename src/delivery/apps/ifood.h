#pragma once

// Orders of iFood (developer.ifood.com.br, Events and Order API): a queue of events that are
// acknowledged, and calls below an order for what happens to it. A poll shows the store as open,
// unless it says otherwise.

#include "delivery/order_source.h"

namespace comanda::delivery {

class Ifood final : public OrderSource {
 public:
  Capabilities capabilities() const override;
  OrderCall Poll(const Variables& account, bool is_present) const override;
  std::optional<OrderCall> PollMissed(const Variables&) const override { return std::nullopt; }
  std::optional<std::vector<AppEvent>> Read(const Variables& account,
                                            const json::Value& answer) const override;
  std::vector<OrderCall> Acknowledge(const std::vector<AppEvent>& events) const override;
  OrderCall Details(const Variables& account, std::string_view external_id) const override;
  AppOrder Map(const json::Value& details, std::string_view currency,
               int currency_decimals) const override;
  std::optional<OrderCall> Tell(const Variables& account, const Told& told) const override;
  bool IsDoneAlready(int status, std::string_view body) const override;
};

}  // namespace comanda::delivery
