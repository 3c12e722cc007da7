#include "app/demo_orders.h"

#include <string>
#include <utility>

#include "base/check.h"
#include "base/money.h"
#include "orders/orders.h"
#include "orders/pricing.h"

namespace comanda::app {
namespace {

constexpr int kDecimals = 2;  // of PEN
constexpr std::string_view kActor = "local";
constexpr std::string_view kClient = "0192f0a0-0050-7000-8000-000000000001";
constexpr std::string_view kAddress = "0192f0a0-0060-7000-8000-000000000001";

// The sku links the line to a product of the menu, which has a station. The name is for a menu from
// which somebody has removed that product.
orders::Combo Line(std::string id, std::string name, std::string sku, Minor unit_price,
                   int64_t count) {
  orders::Combo line;
  line.id = std::move(id);
  line.product_name = std::move(name);
  line.sku = std::move(sku);
  line.quantity = count * orders::kOneInThousandths;
  line.variant_unit_price = line.variant_original_unit_price = unit_price;
  line.variant_price = line.variant_original_price = unit_price * count;
  CHECK(orders::SumUp(line, kDecimals), "the prices of the demo restaurant are small");
  return line;
}

orders::Placement PlacementOf(std::string id, std::string public_number) {
  return {.id = id,
          .public_numbers = {std::move(public_number)},
          .reference = "demo-" + id,
          .fingerprint = "demo",
          .actor = std::string(kActor)};
}

// A delivery with a row of each kind, to be changed by every example but that of cancelling.
void PlaceDelivery(db::Tx& tx, const company::Company& company, const db::Stamp& stamp) {
  const orders::Placement placement =
      PlacementOf("0192f0a0-0080-7000-8000-000000000001", "9599449059");
  orders::OrderDraft draft;
  draft.service_type = orders::ServiceType::kDelivery;
  draft.client_id = std::string(kClient);
  draft.address_id = std::string(kAddress);
  draft.fields.delivery_price = 650;
  const orders::Placed placed = orders::Place(tx, company, draft, placement, stamp);
  if (placed.answer != orders::Placed::Answer::kCreated) return;

  const orders::Target target{
      .company = company.company_id, .key = placement.id, .actor = placement.actor};
  orders::AddCombos(
      tx, target,
      {Line("0192f0a0-0081-7000-8000-000000000001", "Causa de pollo", "CAU-POL", 2400, 1),
       Line("0192f0a0-0081-7000-8000-000000000002", "Arroz con mariscos", "ARR-MAR-P", 4300, 2)},
      stamp);
  orders::PaymentDraft payment;
  payment.method_code = "cash";
  payment.payment.id = "0192f0a0-0082-7000-8000-000000000001";
  payment.payment.amount = 2000;
  orders::Pay(tx, target, payment, stamp);
  orders::AddDiscount(tx, target,
                      {.id = "0192f0a0-0083-7000-8000-000000000001",
                       .type = orders::DiscountType::kAmount,
                       .value = 500},
                      stamp);
}

// A takeaway without payments: it can be cancelled.
void PlaceTakeaway(db::Tx& tx, const company::Company& company, const db::Stamp& stamp) {
  const orders::Placement placement =
      PlacementOf("0192f0a0-0080-7000-8000-000000000002", "7222853393");
  orders::OrderDraft draft;
  draft.service_type = orders::ServiceType::kTakeaway;
  const orders::Placed placed = orders::Place(tx, company, draft, placement, stamp);
  if (placed.answer != orders::Placed::Answer::kCreated) return;
  orders::AddCombos(
      tx, {.company = company.company_id, .key = placement.id, .actor = placement.actor},
      {Line("0192f0a0-0081-7000-8000-000000000003", "Chicharrón de calamar", "CHI-CAL-P", 4100, 1)},
      stamp);
}

}  // namespace

void PlaceDemoOrders(db::Tx& tx, const company::Company& company, const db::Stamp& stamp) {
  PlaceDelivery(tx, company, stamp);
  PlaceTakeaway(tx, company, stamp);
}

}  // namespace comanda::app
