#include "delivery/order_source.h"

#include "base/check.h"
#include "delivery/apps/ifood.h"
#include "delivery/apps/open_delivery.h"
#include "delivery/apps/rappi.h"

namespace comanda::delivery {

const OrderSource& SourceOf(Dialect dialect) {
  static const Ifood ifood;
  static const OpenDelivery open_delivery;
  static const Rappi rappi;
  switch (dialect) {
    case Dialect::kIfood:
      return ifood;
    case Dialect::kOpenDelivery:
      return open_delivery;
    case Dialect::kRappi:
      return rappi;
  }
  CHECK(false, "every dialect has a source");
}

}  // namespace comanda::delivery
