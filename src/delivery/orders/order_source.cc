#include "delivery/orders/order_source.h"

#include "base/check.h"
#include "delivery/apps/apps.h"

namespace comanda::delivery {

const OrderSource& SourceOf(Dialect dialect) {
  switch (dialect) {
    case Dialect::kIfood:
      return IfoodSource();
    case Dialect::kOpenDelivery:
      return OpenDeliverySource();
    case Dialect::kKeeta:
      return KeetaSource();
    case Dialect::kRappi:
      return RappiSource();
  }
  CHECK(false, "every dialect has a source");
}

}  // namespace comanda::delivery
