#pragma once

// Orders of Rappi (dev-portal.rappi.com, Orders). A list of new orders is given once; what it held
// is listed for ten minutes more, until it is taken. Rappi tells what becomes of an order by calls
// to a public address alone, which a box has not: an order that it cancels stays as it is here.

#include "delivery/order_source.h"

namespace comanda::delivery {

class Rappi final : public OrderSource {
 public:
  Capabilities capabilities() const override;
  OrderCall Poll(const Variables& account, bool is_present) const override;
  std::optional<OrderCall> PollMissed(const Variables& account) const override;
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
