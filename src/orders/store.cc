#include "orders/store.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "base/problem.h"
#include "company/companies.h"
#include "events/counters.h"
#include "events/log.h"
#include "orders/checksum.h"
#include "orders/pricing.h"
#include "orders/record.h"

namespace comanda::orders {
namespace {

[[noreturn]] void ThrowDamaged(std::string_view id, std::string_view why) {
  throw Fault(Fault::Kind::kDamaged,
              "order " + std::string(id) + " is damaged: " + std::string(why));
}

// The stored number as a value of an enum with `values` values. Fault kDamaged for others.
template <typename Enum>
Enum ReadEnum(int64_t number, size_t values, std::string_view order_id) {
  if (number < 0 || static_cast<size_t>(number) >= values) {
    ThrowDamaged(order_id, "a status or type is out of range");
  }
  return static_cast<Enum>(number);
}

// The rows of an order are numbered from 0 without gaps. Fault kDamaged if one is missing.
void RequirePosition(int64_t position, size_t expected, const Order& order) {
  if (position == static_cast<int64_t>(expected)) return;
  ThrowDamaged(order.id, "its rows are not numbered without a gap");
}

std::optional<int64_t> Number(std::optional<DeliveryStatus> status) {
  if (!status) return std::nullopt;
  return static_cast<int64_t>(*status);
}

// Facets

constexpr int64_t kNoDeliveryStatus = -1;

auto FacetValues(const Order& order) {
  return std::tuple(static_cast<int64_t>(order.status), static_cast<int64_t>(order.service_type),
                    std::string_view(order.source), order.totals.paid,
                    Number(order.delivery_status).value_or(kNoDeliveryStatus));
}

std::optional<int64_t> FindFacet(db::Tx& tx, const Order& order) {
  const auto& [status, service_type, source, paid, delivery_status] = FacetValues(order);
  return tx.FindInt(R"sql(
      SELECT facet FROM order_facet
      WHERE company_id = $1 AND status = $2 AND service_type = $3 AND source = $4 AND paid = $5
        AND delivery_status = $6
      )sql",
                    order.company, status, service_type, source, paid, delivery_status);
}

int64_t NextFacet(db::Tx& tx, db::CompanyId company) {
  return tx.GetInt(R"sql(
      SELECT coalesce(max(facet), 0) + 1 FROM order_facet WHERE company_id = $1
      )sql",
                   company);
}

// Adds the order to the count of its facet, which is made if it is missing; returns its number. Two
// statements: RETURNING would be slower.
int64_t JoinFacet(db::Tx& tx, const Order& order) {
  if (const std::optional<int64_t> known = FindFacet(tx, order)) {
    tx.Run(R"sql(
        UPDATE order_facet SET orders = orders + 1 WHERE company_id = $1 AND facet = $2
        )sql",
           order.company, *known);
    return *known;
  }
  const int64_t facet = NextFacet(tx, order.company);
  const auto& [status, service_type, source, paid, delivery_status] = FacetValues(order);
  tx.Run(R"sql(
      INSERT INTO order_facet (company_id, facet, status, service_type, source, paid,
        delivery_status, orders)
      VALUES ($1, $2, $3, $4, $5, $6, $7, 1)
      )sql",
         order.company, facet, status, service_type, source, paid, delivery_status);
  return facet;
}

void LeaveFacet(db::Tx& tx, db::CompanyId company, int64_t facet) {
  tx.Run(R"sql(
      UPDATE order_facet SET orders = orders - 1 WHERE company_id = $1 AND facet = $2
      )sql",
         company, facet);
}

// LeaveFacet() and JoinFacet(), in one statement where the facet exists.
int64_t ChangeFacet(db::Tx& tx, int64_t former, const Order& order) {
  const std::optional<int64_t> known = FindFacet(tx, order);
  if (!known) {
    LeaveFacet(tx, order.company, former);
    return JoinFacet(tx, order);
  }
  tx.Run(R"sql(
      UPDATE order_facet SET orders = orders + CASE WHEN facet = $3 THEN 1 ELSE -1 END
      WHERE company_id = $1 AND facet IN ($2, $3)
      )sql",
         order.company, former, *known);
  return *known;
}

// The order's row

db::Bound OrNull(const std::optional<Rider>& rider, auto member) {
  return rider ? db::Bound((*rider).*member) : db::Bound(nullptr);
}

bool InsertRow(db::Tx& tx, const Order& order) {
  const std::optional<Rider>& rider = order.rider;
  const int64_t inserted = tx.RunCounted(
      R"sql(
      INSERT INTO orders (company_id, id, public_id, order_number, reference, fingerprint, source,
        country_code, timezone, currency, version, status, service_type, scheduled_delivery_date,
        client_id, client, table_id, table_snapshot, address_id, address, comment, order_title,
        delivery_comment, subtotal, total_discounts, delivery_price, packaging_price,
        service_fee_price, total_tips, total, total_paid, paid, paid_at, created_at, updated_at,
        facet, delivery_status, delivery_status_reason, delivery_status_by_rider, delivered_by,
        rider_provider, rider_user_id, rider_name, rider_phone_number,
        rider_country_calling_code, rider_assigned_at, cancel_reason, closed_at, canceled_at,
        external_id, render_version, created_seq, record_seq, origin, unknown_status,
        unknown_members, gone_at, checksum, business_day)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
        $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37,
        $38, $39, $40, $41, $42, $43, $44, $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55,
        $56, $57, $58, $59)
      ON CONFLICT (company_id, public_id) DO NOTHING
      )sql",
      order.company, order.id, order.public_id, order.order_number, order.reference,
      order.fingerprint, order.source, order.country_code, order.timezone, order.currency,
      order.version, static_cast<int>(order.status), static_cast<int>(order.service_type),
      order.scheduled_delivery_date, order.client_id, order.client, order.table_id, order.table,
      order.address_id, order.address, order.comment, order.order_title, order.delivery_comment,
      order.totals.subtotal, order.totals.total_discounts, order.delivery_price,
      order.packaging_price, order.service_fee_price, order.totals.total_tips, order.totals.total,
      order.totals.total_paid, order.totals.paid, order.paid_at, order.created_at, order.updated_at,
      order.facet, Number(order.delivery_status), order.delivery_status_reason,
      order.delivery_status_by_rider, order.delivered_by, OrNull(rider, &Rider::provider),
      OrNull(rider, &Rider::user_id), OrNull(rider, &Rider::name),
      OrNull(rider, &Rider::phone_number), OrNull(rider, &Rider::country_calling_code),
      OrNull(rider, &Rider::assigned_at), order.cancel_reason, order.closed_at, order.canceled_at,
      order.external_id, order.render_version, order.created_seq, order.record_seq,
      static_cast<int>(order.origin), order.unknown_status, order.unknown_members, order.gone_at,
      ChecksumOf(order), order.business_day);
  return inserted == 1;
}

std::optional<Rider> ReadRider(const auto& row) {
  if (row.IsNull("rider_provider")) return std::nullopt;
  Rider rider;
  rider.provider = row.Text("rider_provider");
  rider.user_id = row.OptionalText("rider_user_id");
  rider.name = row.OptionalText("rider_name");
  rider.phone_number = row.OptionalText("rider_phone_number");
  rider.country_calling_code = row.OptionalText("rider_country_calling_code");
  rider.assigned_at = row.Int("rider_assigned_at");
  return rider;
}

Totals ReadTotals(const auto& row) {
  return {.subtotal = row.Int("subtotal"),
          .total_discounts = row.Int("total_discounts"),
          .total_tips = row.Int("total_tips"),
          .total = row.Int("total"),
          .total_paid = row.Int("total_paid"),
          .paid = row.Bool("paid")};
}

Order ReadRow(const auto& row) {
  Order order;
  order.company = row.Company("company_id");
  order.id = row.Text("id");
  order.public_id = row.Text("public_id");
  order.order_number = row.Int("order_number");
  order.business_day = row.OptionalText("business_day");
  order.reference = row.OptionalText("reference");
  order.fingerprint = row.OptionalText("fingerprint");
  order.source = row.Text("source");
  order.country_code = row.Text("country_code");
  order.timezone = row.Text("timezone");
  order.currency = row.Text("currency");
  order.version = row.Int("version");
  order.status = ReadEnum<Status>(row.Int("status"), kStatusNames.size(), order.id);
  order.service_type =
      ReadEnum<ServiceType>(row.Int("service_type"), kServiceTypeNames.size(), order.id);
  if (!row.IsNull("delivery_status")) {
    order.delivery_status =
        ReadEnum<DeliveryStatus>(row.Int("delivery_status"), kDeliveryStatusNames.size(), order.id);
  }
  order.delivery_status_reason = row.OptionalText("delivery_status_reason");
  order.delivery_status_by_rider = row.Bool("delivery_status_by_rider");
  order.delivered_by = row.OptionalText("delivered_by");
  order.rider = ReadRider(row);
  order.cancel_reason = row.OptionalText("cancel_reason");
  order.scheduled_delivery_date = row.OptionalInt("scheduled_delivery_date");
  order.client_id = row.OptionalText("client_id");
  order.client = row.OptionalText("client");
  order.table_id = row.OptionalText("table_id");
  order.table = row.OptionalText("table_snapshot");
  order.address_id = row.OptionalText("address_id");
  order.address = row.OptionalText("address");
  order.comment = row.OptionalText("comment");
  order.order_title = row.OptionalText("order_title");
  order.delivery_comment = row.OptionalText("delivery_comment");
  order.totals = ReadTotals(row);
  order.delivery_price = row.Int("delivery_price");
  order.packaging_price = row.Int("packaging_price");
  order.service_fee_price = row.Int("service_fee_price");
  order.paid_at = row.OptionalInt("paid_at");
  order.created_at = row.Int("created_at");
  order.updated_at = row.Int("updated_at");
  order.closed_at = row.OptionalInt("closed_at");
  order.canceled_at = row.OptionalInt("canceled_at");
  order.external_id = row.OptionalText("external_id");
  order.facet = row.Int("facet");
  order.created_seq = row.Int("created_seq");
  order.record_seq = row.OptionalInt("record_seq");
  order.render_version = row.Int("render_version");
  constexpr size_t kOrigins = 2;
  order.origin = ReadEnum<Origin>(row.Int("origin"), kOrigins, order.id);
  order.unknown_status = row.OptionalText("unknown_status");
  order.unknown_members = row.OptionalText("unknown_members");
  order.gone_at = row.OptionalInt("gone_at");
  const std::optional<int> decimals = CurrencyDecimals(order.currency);
  if (!decimals) ThrowDamaged(order.id, "its currency is none");
  order.currency_decimals = *decimals;
  return order;
}

struct StoredOrder {
  Order order;
  std::optional<int64_t> checksum;  // none: of an older program
  bool has_payments = false;
  bool has_discounts = false;
};

std::optional<StoredOrder> SelectRow(db::Session& session, db::CompanyId company,
                                     std::string_view id, std::string_view company_uuid) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT o.company_id, o.id, o.public_id, o.order_number, o.reference, o.fingerprint,
        o.source, o.country_code, o.timezone, o.currency, o.version, o.status, o.service_type,
        o.delivery_status, o.delivery_status_reason, o.delivery_status_by_rider, o.delivered_by,
        o.rider_provider, o.rider_user_id, o.rider_name, o.rider_phone_number,
        o.rider_country_calling_code, o.rider_assigned_at, o.cancel_reason,
        o.scheduled_delivery_date, o.client_id, o.client, o.table_id, o.table_snapshot,
        o.address_id, o.address, o.comment, o.order_title, o.delivery_comment, o.subtotal,
        o.total_discounts, o.delivery_price, o.packaging_price, o.service_fee_price, o.total_tips,
        o.total, o.total_paid, o.paid, o.paid_at, o.created_at, o.updated_at, o.closed_at,
        o.canceled_at, o.external_id, o.facet, o.created_seq, o.record_seq, o.render_version,
        o.origin, o.unknown_status, o.unknown_members, o.gone_at, o.business_day, o.checksum,
        (SELECT count(*) FROM payment AS p WHERE p.company_id = $1 AND p.order_id = $2) AS payments,
        (SELECT count(*) FROM discount AS d WHERE d.company_id = $1 AND d.order_id = $2)
          AS discounts
      FROM orders AS o WHERE o.company_id = $1 AND o.id = $2
      )sql";
  const auto row = session.One<kSelect>(company, id);
  if (!row) return std::nullopt;
  StoredOrder stored{.order = ReadRow(*row),
                     .checksum = row->OptionalInt("checksum"),
                     .has_payments = row->Int("payments") > 0,
                     .has_discounts = row->Int("discounts") > 0};
  stored.order.company_uuid =
      company_uuid.empty() ? company::UuidOf(session, company) : std::string(company_uuid);
  return stored;
}

// Writes the columns that can change and are in no index except that of updated_at, and where the
// status has changed, also that and the facet, which changes with it. SQLite rewrites every index
// that has a column named in SET, even if the value is the same: the columns of other indexes
// therefore have statements of their own.
void UpdateRow(db::Tx& tx, const Order& before, const Order& order) {
  const std::optional<Rider>& rider = order.rider;
  const auto run = [&](db::Sql sql, const auto&... more) {
    tx.RunOne(sql, order.company, order.id, order.version, Number(order.delivery_status),
              order.delivery_status_reason, order.delivery_status_by_rider, order.delivered_by,
              order.cancel_reason, order.comment, order.order_title, order.delivery_comment,
              order.totals.subtotal, order.totals.total_discounts, order.delivery_price,
              order.packaging_price, order.totals.total_tips, order.totals.total_paid,
              order.totals.paid, order.paid_at, order.updated_at, order.closed_at,
              order.canceled_at, OrNull(rider, &Rider::provider), OrNull(rider, &Rider::user_id),
              OrNull(rider, &Rider::name), OrNull(rider, &Rider::phone_number),
              OrNull(rider, &Rider::country_calling_code), OrNull(rider, &Rider::assigned_at),
              order.record_seq, order.render_version, order.unknown_status, order.unknown_members,
              order.gone_at, ChecksumOf(order), order.business_day, more...);
  };
  if (before.status != order.status) {
    run(R"sql(
      UPDATE orders SET version = $3, delivery_status = $4, delivery_status_reason = $5,
        delivery_status_by_rider = $6, delivered_by = $7, cancel_reason = $8, comment = $9,
        order_title = $10, delivery_comment = $11, subtotal = $12, total_discounts = $13,
        delivery_price = $14, packaging_price = $15, total_tips = $16, total_paid = $17,
        paid = $18, paid_at = $19, updated_at = $20, closed_at = $21, canceled_at = $22,
        rider_provider = $23, rider_user_id = $24, rider_name = $25, rider_phone_number = $26,
        rider_country_calling_code = $27, rider_assigned_at = $28, record_seq = $29,
        render_version = $30, unknown_status = $31, unknown_members = $32, gone_at = $33,
        checksum = $34, business_day = $35, facet = $36, status = $37
      WHERE company_id = $1 AND id = $2
      )sql",
        order.facet, static_cast<int64_t>(order.status));
    return;
  }
  run(R"sql(
      UPDATE orders SET version = $3, delivery_status = $4, delivery_status_reason = $5,
        delivery_status_by_rider = $6, delivered_by = $7, cancel_reason = $8, comment = $9,
        order_title = $10, delivery_comment = $11, subtotal = $12, total_discounts = $13,
        delivery_price = $14, packaging_price = $15, total_tips = $16, total_paid = $17,
        paid = $18, paid_at = $19, updated_at = $20, closed_at = $21, canceled_at = $22,
        rider_provider = $23, rider_user_id = $24, rider_name = $25, rider_phone_number = $26,
        rider_country_calling_code = $27, rider_assigned_at = $28, record_seq = $29,
        render_version = $30, unknown_status = $31, unknown_members = $32, gone_at = $33,
        checksum = $34, business_day = $35
      WHERE company_id = $1 AND id = $2
      )sql");
}

void UpdateIndexed(db::Tx& tx, const Order& before, const Order& after) {
  if (before.totals.total != after.totals.total) {
    tx.RunOne(R"sql(UPDATE orders SET total = $3 WHERE company_id = $1 AND id = $2)sql",
              after.company, after.id, after.totals.total);
  }
  if (before.scheduled_delivery_date != after.scheduled_delivery_date) {
    tx.RunOne(R"sql(
      UPDATE orders SET scheduled_delivery_date = $3 WHERE company_id = $1 AND id = $2
      )sql",
              after.company, after.id, after.scheduled_delivery_date);
  }
  if (before.facet != after.facet && before.status == after.status) {
    tx.RunOne(R"sql(UPDATE orders SET facet = $3 WHERE company_id = $1 AND id = $2)sql",
              after.company, after.id, after.facet);
  }
}

void UpdateFacet(db::Tx& tx, const Order& before, Order& after) {
  if (FacetValues(before) == FacetValues(after)) return;
  after.facet = ChangeFacet(tx, before.facet, after);
}

// History

// A record of another channel brings lines and changes at once: their times say which were there.
void NoteLinesByTime(Order& order, size_t first) {
  for (StatusChange& change : std::span(order.status_history).subspan(first)) {
    change.lines = std::ranges::count_if(
        order.combos, [&](const Combo& combo) { return combo.created_at <= change.at; });
  }
}

void NoteLines(Order& order, size_t first) {
  for (StatusChange& change : std::span(order.status_history).subspan(first)) {
    change.lines = static_cast<int64_t>(order.combos.size());
  }
}

void InsertStatus(db::Tx& tx, const Order& order, size_t position) {
  const StatusChange& change = order.status_history[position];
  tx.Run(R"sql(
      INSERT INTO order_status (company_id, order_id, position, status, at, by, implied,
        request_key, lines)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      )sql",
         order.company, order.id, static_cast<int64_t>(position), static_cast<int>(change.status),
         change.at, change.by, change.implied, change.request_key, change.lines);
}

void SelectHistory(db::Session& session, Order& order) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT status, at, by, implied, request_key, lines, position FROM order_status
      WHERE company_id = $1 AND order_id = $2 ORDER BY position
      )sql";
  auto rows = session.Query<kSelect>(order.company, order.id);
  while (rows.Next()) {
    RequirePosition(rows.Int("position"), order.status_history.size(), order);
    order.status_history.push_back(
        {.status = ReadEnum<Status>(rows.Int("status"), kStatusNames.size(), order.id),
         .at = rows.Int("at"),
         .by = rows.Text("by"),
         .implied = rows.Bool("implied"),
         .request_key = rows.OptionalText("request_key"),
         .lines = rows.OptionalInt("lines")});
  }
}

// Combos

void InsertModifiers(db::Tx& tx, const Order& order, size_t combo_position) {
  int64_t position = 0;
  for (const Modifier& modifier : order.combos[combo_position].modifiers) {
    tx.Run(R"sql(
        INSERT INTO combo_modifier (company_id, order_id, combo_position, position, id,
          modifier_id, name, quantity, price, original_price, unit_quantity, unit_price,
          original_unit_price, group_name)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        )sql",
           order.company, order.id, static_cast<int64_t>(combo_position), position++, modifier.id,
           modifier.modifier_id, modifier.name, modifier.quantity, modifier.price,
           modifier.original_price, modifier.unit_quantity, modifier.unit_price,
           modifier.original_unit_price, modifier.group_name);
  }
}

void InsertCombo(db::Tx& tx, const Order& order, size_t position) {
  const Combo& combo = order.combos[position];
  tx.Run(R"sql(
      INSERT INTO combo (company_id, order_id, position, id, product_id, product_name,
        product_category_name, variant_id, variant_name, sku, quantity, comment, variant_price,
        variant_original_price, modifiers_price, combo_price, combo_original_price, kitchen_id,
        stock_taken, created_at, canceled_at, variant_unit_price, variant_original_unit_price,
        request_key)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
        $20, $21, $22, $23, $24)
      )sql",
         order.company, order.id, static_cast<int64_t>(position), combo.id, combo.product_id,
         combo.product_name, combo.product_category_name, combo.variant_id, combo.variant_name,
         combo.sku, combo.quantity, combo.comment, combo.variant_price,
         combo.variant_original_price, combo.modifiers_price, combo.combo_price,
         combo.combo_original_price, combo.kitchen_id, combo.stock_taken, combo.created_at,
         combo.canceled_at, combo.variant_unit_price, combo.variant_original_unit_price,
         combo.request_key);
  InsertModifiers(tx, order, position);
}

Combo ReadCombo(const auto& row) {
  Combo combo;
  combo.id = row.Text("id");
  combo.product_id = row.OptionalText("product_id");
  combo.product_name = row.Text("product_name");
  combo.product_category_name = row.OptionalText("product_category_name");
  combo.variant_id = row.OptionalText("variant_id");
  combo.variant_name = row.OptionalText("variant_name");
  combo.sku = row.OptionalText("sku");
  combo.quantity = row.Int("quantity");
  combo.comment = row.OptionalText("comment");
  combo.variant_price = row.Int("variant_price");
  combo.variant_original_price = row.Int("variant_original_price");
  combo.modifiers_price = row.Int("modifiers_price");
  combo.combo_price = row.Int("combo_price");
  combo.combo_original_price = row.Int("combo_original_price");
  combo.kitchen_id = row.OptionalText("kitchen_id");
  combo.stock_taken = row.Int("stock_taken");
  combo.created_at = row.Int("created_at");
  combo.canceled_at = row.OptionalInt("canceled_at");
  combo.variant_unit_price = row.OptionalInt("variant_unit_price")
                                 .value_or(UnitPrice(combo.variant_price, combo.quantity));
  combo.variant_original_unit_price =
      row.OptionalInt("variant_original_unit_price")
          .value_or(UnitPrice(combo.variant_original_price, combo.quantity));
  combo.request_key = row.OptionalText("request_key");
  return combo;
}

Modifier ReadModifier(const auto& row, int64_t item_quantity) {
  Modifier modifier;
  modifier.id = row.Text("modifier_row");
  modifier.modifier_id = row.OptionalText("modifier_id");
  modifier.group_name = row.OptionalText("group_name");
  modifier.name = row.Text("modifier_name");
  modifier.quantity = row.Int("modifier_quantity");
  modifier.price = row.Int("price");
  modifier.original_price = row.Int("original_price");
  modifier.unit_quantity =
      row.OptionalInt("unit_quantity").value_or(UnitQuantity(modifier.quantity, item_quantity));
  modifier.unit_price =
      row.OptionalInt("unit_price").value_or(UnitPrice(modifier.price, modifier.quantity));
  modifier.original_unit_price =
      row.OptionalInt("original_unit_price")
          .value_or(UnitPrice(modifier.original_price, modifier.quantity));
  return modifier;
}

// A combo comes once for each of its modifiers, or once without one.
void SelectCombos(db::Session& session, Order& order) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT c.id, c.product_id, c.product_name, c.product_category_name, c.variant_id,
        c.variant_name, c.sku, c.quantity, c.comment, c.variant_price, c.variant_original_price,
        c.modifiers_price, c.combo_price, c.combo_original_price, c.kitchen_id, c.stock_taken,
        c.created_at, c.canceled_at, c.variant_unit_price, c.variant_original_unit_price,
        c.request_key, c.position,
        m.position AS modifier_position, m.id AS modifier_row, m.modifier_id,
        m.name AS modifier_name, m.quantity AS modifier_quantity, m.price, m.original_price,
        m.unit_quantity, m.unit_price, m.original_unit_price, m.group_name
      FROM combo AS c
      LEFT JOIN combo_modifier AS m
        ON m.company_id = c.company_id AND m.order_id = c.order_id AND m.combo_position = c.position
      WHERE c.company_id = $1 AND c.order_id = $2 ORDER BY c.position, m.position
      )sql";
  auto rows = session.Query<kSelect>(order.company, order.id);
  while (rows.Next()) {
    const int64_t position = rows.Int("position");
    if (position + 1 != static_cast<int64_t>(order.combos.size())) {
      RequirePosition(position, order.combos.size(), order);
      order.combos.push_back(ReadCombo(rows));
    }
    if (rows.IsNull("modifier_position")) continue;
    Combo& combo = order.combos.back();
    RequirePosition(rows.Int("modifier_position"), combo.modifiers.size(), order);
    combo.modifiers.push_back(ReadModifier(rows, combo.quantity));
  }
}

void UpdateCombos(db::Tx& tx, const Order& before, const Order& after) {
  for (size_t position = 0; position < after.combos.size(); ++position) {
    const Combo& combo = after.combos[position];
    if (position >= before.combos.size()) {
      InsertCombo(tx, after, position);
    } else if (combo.canceled_at != before.combos[position].canceled_at ||
               combo.stock_taken != before.combos[position].stock_taken) {
      tx.RunOne(R"sql(
          UPDATE combo SET canceled_at = $4, stock_taken = $5
          WHERE company_id = $1 AND order_id = $2 AND position = $3
          )sql",
                after.company, after.id, static_cast<int64_t>(position), combo.canceled_at,
                combo.stock_taken);
    }
  }
}

// Payments

void InsertPayment(db::Tx& tx, const Order& order, size_t position) {
  const Payment& payment = order.payments[position];
  tx.Run(R"sql(
      INSERT INTO payment (company_id, order_id, position, id, payment_method_id,
        payment_method_code, payment_method_description, amount, tip_amount, received_amount,
        reference, comment, created_at, canceled_at, request_key)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
      )sql",
         order.company, order.id, static_cast<int64_t>(position), payment.id, payment.method.id,
         payment.method.code, payment.method.description, payment.amount, payment.tip_amount,
         payment.received_amount, payment.reference, payment.comment, payment.created_at,
         payment.canceled_at, payment.request_key);
}

void SelectPayments(db::Session& session, Order& order) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, payment_method_id, payment_method_code, payment_method_description, amount,
        tip_amount, received_amount, reference, comment, created_at, canceled_at, request_key,
        position
      FROM payment WHERE company_id = $1 AND order_id = $2 ORDER BY position
      )sql";
  auto rows = session.Query<kSelect>(order.company, order.id);
  while (rows.Next()) {
    RequirePosition(rows.Int("position"), order.payments.size(), order);
    order.payments.push_back({.id = rows.Text("id"),
                              .method = {.id = rows.Text("payment_method_id"),
                                         .code = rows.Text("payment_method_code"),
                                         .description = rows.Text("payment_method_description")},
                              .amount = rows.Int("amount"),
                              .tip_amount = rows.Int("tip_amount"),
                              .received_amount = rows.OptionalInt("received_amount"),
                              .reference = rows.OptionalText("reference"),
                              .comment = rows.OptionalText("comment"),
                              .created_at = rows.Int("created_at"),
                              .canceled_at = rows.OptionalInt("canceled_at"),
                              .request_key = rows.OptionalText("request_key")});
  }
}

void UpdatePayments(db::Tx& tx, const Order& before, const Order& after) {
  for (size_t position = 0; position < after.payments.size(); ++position) {
    const Payment& payment = after.payments[position];
    if (position >= before.payments.size()) {
      InsertPayment(tx, after, position);
    } else if (payment.canceled_at != before.payments[position].canceled_at) {
      tx.RunOne(R"sql(
          UPDATE payment SET canceled_at = $4
          WHERE company_id = $1 AND order_id = $2 AND position = $3
          )sql",
                after.company, after.id, static_cast<int64_t>(position), payment.canceled_at);
    }
  }
}

// Discounts

void InsertDiscount(db::Tx& tx, const Order& order, const Discount& discount) {
  tx.Run(R"sql(
      INSERT INTO discount (company_id, order_id, position, id, type, value, amount, reason,
        created_at, request_key)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      )sql",
         order.company, order.id, discount.position, discount.id, Name(discount.type),
         discount.value, discount.amount, discount.reason, discount.created_at,
         discount.request_key);
}

void SelectDiscounts(db::Session& session, Order& order) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, position, type, value, amount, reason, created_at, request_key
      FROM discount WHERE company_id = $1 AND order_id = $2 ORDER BY position
      )sql";
  auto rows = session.Query<kSelect>(order.company, order.id);
  while (rows.Next()) {
    const bool percentage = rows.View("type") == Name(DiscountType::kPercentage);
    if (!percentage && rows.View("type") != Name(DiscountType::kAmount)) {
      ThrowDamaged(order.id, "a discount is of no type");
    }
    order.discounts.push_back(
        {.id = rows.Text("id"),
         .position = rows.Int("position"),
         .type = percentage ? DiscountType::kPercentage : DiscountType::kAmount,
         .value = rows.Int("value"),
         .amount = rows.Int("amount"),
         .reason = rows.OptionalText("reason"),
         .created_at = rows.Int("created_at"),
         .request_key = rows.OptionalText("request_key")});
  }
}

const Discount* FindDiscount(const Order& order, std::string_view id) {
  const auto found = std::ranges::find(order.discounts, id, &Discount::id);
  return found == order.discounts.end() ? nullptr : &*found;
}

void UpdateDiscounts(db::Tx& tx, const Order& before, const Order& after) {
  for (const Discount& discount : before.discounts) {
    if (FindDiscount(after, discount.id)) continue;
    tx.RunOne(R"sql(
      DELETE FROM discount WHERE company_id = $1 AND order_id = $2 AND position = $3
      )sql",
              before.company, before.id, discount.position);
  }
  for (const Discount& discount : after.discounts) {
    const Discount* stored = FindDiscount(before, discount.id);
    if (!stored) {
      InsertDiscount(tx, after, discount);
    } else if (stored->amount != discount.amount) {
      tx.RunOne(R"sql(
          UPDATE discount SET amount = $4
          WHERE company_id = $1 AND order_id = $2 AND position = $3
          )sql",
                after.company, after.id, discount.position, discount.amount);
    }
  }
}

}  // namespace

// The aggregate

bool Insert(db::Tx& tx, Order& order, int64_t created_seq) {
  // A list with a snapshot leaves out the orders with a greater one.
  order.created_seq = created_seq;
  order.record_seq = created_seq;
  order.render_version = kRenderVersion;
  order.facet = JoinFacet(tx, order);
  NoteLinesByTime(order, 0);
  if (!InsertRow(tx, order)) {
    LeaveFacet(tx, order.company, order.facet);
    return false;
  }
  for (size_t i = 0; i < order.status_history.size(); ++i) {
    InsertStatus(tx, order, i);
  }
  for (size_t i = 0; i < order.combos.size(); ++i) InsertCombo(tx, order, i);
  for (size_t i = 0; i < order.payments.size(); ++i) InsertPayment(tx, order, i);
  for (const Discount& discount : order.discounts) InsertDiscount(tx, order, discount);
  return true;
}

void Update(db::Tx& tx, const Order& before, Order& after) {
  after.render_version = kRenderVersion;
  UpdateFacet(tx, before, after);
  NoteLines(after, before.status_history.size());
  UpdateRow(tx, before, after);
  UpdateIndexed(tx, before, after);
  for (size_t position = before.status_history.size(); position < after.status_history.size();
       ++position) {
    InsertStatus(tx, after, position);
  }
  UpdateCombos(tx, before, after);
  UpdatePayments(tx, before, after);
  UpdateDiscounts(tx, before, after);
}

namespace {

// The columns that never change of an order that was made here.
void UpdateFixed(db::Tx& tx, const Order& order) {
  tx.RunOne(R"sql(
      UPDATE orders SET order_number = $3, reference = $4, source = $5, country_code = $6,
        timezone = $7, currency = $8, service_type = $9, client_id = $10, client = $11,
        table_id = $12, table_snapshot = $13, address_id = $14, address = $15,
        service_fee_price = $16, created_at = $17
      WHERE company_id = $1 AND id = $2
      )sql",
            order.company, order.id, order.order_number, order.reference, order.source,
            order.country_code, order.timezone, order.currency,
            static_cast<int>(order.service_type), order.client_id, order.client, order.table_id,
            order.table, order.address_id, order.address, order.service_fee_price,
            order.created_at);
}

void ReplaceRows(db::Tx& tx, const Order& before, const Order& after) {
  if (before.combos != after.combos) {
    tx.Run(R"sql(DELETE FROM combo_modifier WHERE company_id = $1 AND order_id = $2)sql",
           after.company, after.id);
    tx.Run(R"sql(DELETE FROM combo WHERE company_id = $1 AND order_id = $2)sql", after.company,
           after.id);
    for (size_t i = 0; i < after.combos.size(); ++i) InsertCombo(tx, after, i);
  }
  if (before.payments != after.payments) {
    tx.Run(R"sql(DELETE FROM payment WHERE company_id = $1 AND order_id = $2)sql", after.company,
           after.id);
    for (size_t i = 0; i < after.payments.size(); ++i) InsertPayment(tx, after, i);
  }
  if (before.discounts != after.discounts) {
    tx.Run(R"sql(DELETE FROM discount WHERE company_id = $1 AND order_id = $2)sql", after.company,
           after.id);
    for (const Discount& discount : after.discounts) InsertDiscount(tx, after, discount);
  }
}

}  // namespace

void Replace(db::Tx& tx, const Order& before, Order& after) {
  after.render_version = kRenderVersion;
  UpdateFacet(tx, before, after);
  NoteLinesByTime(after, before.status_history.size());
  UpdateRow(tx, before, after);
  UpdateIndexed(tx, before, after);
  UpdateFixed(tx, after);
  for (size_t position = before.status_history.size(); position < after.status_history.size();
       ++position) {
    InsertStatus(tx, after, position);
  }
  ReplaceRows(tx, before, after);
}

namespace {

std::optional<StoredOrder> SelectUnchecked(db::Session& session, db::CompanyId company,
                                           std::string_view id, std::string_view company_uuid) {
  std::optional<StoredOrder> stored = SelectRow(session, company, id, company_uuid);
  if (!stored) return std::nullopt;
  SelectHistory(session, stored->order);
  SelectCombos(session, stored->order);
  if (stored->has_payments) SelectPayments(session, stored->order);
  if (stored->has_discounts) SelectDiscounts(session, stored->order);
  return stored;
}

void RequireSound(db::Session& session, const StoredOrder& stored) {
  const Order& order = stored.order;
  if (!stored.checksum) {
    if (!events::HasAllChecksums(session, order.company)) return;
    ThrowDamaged(order.id, "it has no checksum");
  }
  if (*stored.checksum != ChecksumOf(order)) {
    ThrowDamaged(order.id, "its rows are not what was written");
  }
}

std::string BusinessDayOf(db::Session& session, const Order& order) {
  company::Company company = company::Get(session, order.company);
  company.timezone = order.timezone;  // that of the moment of creation
  return FormatDay(company::BusinessDays(company).Of(order.created_at));
}

}  // namespace

std::optional<Order> Select(db::Session& session, db::CompanyId company, std::string_view id,
                            std::string_view company_uuid) {
  std::optional<StoredOrder> stored = SelectUnchecked(session, company, id, company_uuid);
  if (!stored) return std::nullopt;
  RequireSound(session, *stored);
  Order& order = stored->order;
  if (!order.business_day) order.business_day = BusinessDayOf(session, order);
  return std::move(order);
}

bool HasChecksum(db::Session& session, db::CompanyId company, std::string_view id) {
  return session.Exists(R"sql(
      SELECT 1 FROM orders WHERE company_id = $1 AND id = $2 AND checksum IS NOT NULL
      )sql",
                        company, id);
}

void WriteChecksum(db::Tx& tx, const Order& order) {
  tx.RunOne(R"sql(
      UPDATE orders SET business_day = $3, checksum = $4 WHERE company_id = $1 AND id = $2
      )sql",
            order.company, order.id, order.business_day, ChecksumOf(order));
}

std::optional<std::string> SelectIdByPublicId(db::Session& session, db::CompanyId company,
                                              std::string_view public_id) {
  return session.FindText(R"sql(SELECT id FROM orders WHERE company_id = $1 AND public_id = $2)sql",
                          company, public_id);
}

namespace {

constexpr db::Sql kReferenceOf =
    R"sql(SELECT reference FROM orders WHERE company_id = $1 AND id = $2)sql";

[[noreturn]] void ThrowWrongReference(db::Session& session, std::string_view id) {
  session.ThrowDamaged(kReferenceOf, "the index of references leads to order " + std::string(id) +
                                         ", which has another or is not found");
}

// Whether the order has the reference by which an index has led to it, in its own row.
bool HasReference(db::Session& session, db::CompanyId company, std::string_view id,
                  std::string_view reference) {
  const auto row = session.One<kReferenceOf>(company, id);
  return row && row->OptionalText("reference") == reference;
}

}  // namespace

std::optional<Made> SelectByReference(db::Session& session, db::CompanyId company,
                                      std::string_view reference) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, public_id, coalesce(fingerprint, '') AS fingerprint, created_seq FROM orders
      WHERE company_id = $1 AND reference = $2
      )sql";
  const auto row = session.One<kSelect>(company, reference);
  if (!row) return std::nullopt;
  Made made{.id = row->Text("id"),
            .public_id = row->Text("public_id"),
            .fingerprint = row->Text("fingerprint"),
            .created_seq = row->Int("created_seq")};
  if (!HasReference(session, company, made.id, reference)) ThrowWrongReference(session, made.id);
  return made;
}

std::optional<std::string> SelectIdByExternalId(db::Session& session, db::CompanyId company,
                                                std::string_view source,
                                                std::string_view external_id) {
  return session.FindText(R"sql(
      SELECT id FROM orders WHERE company_id = $1 AND source = $2 AND external_id = $3
      )sql",
                          company, source, external_id);
}

// The record

namespace {

RecordLocation ReadLocation(const auto& row) {
  return {row.Int("version"), row.Int("render_version"), row.OptionalInt("record_seq"),
          row.OptionalInt("closed_at")};
}

}  // namespace

std::optional<LocatedRecord> SelectRecordByPublicId(db::Session& session, db::CompanyId company,
                                                    std::string_view public_id) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, version, render_version, record_seq, closed_at FROM orders
      WHERE company_id = $1 AND public_id = $2
      )sql";
  const auto row = session.One<kSelect>(company, public_id);
  if (!row) return std::nullopt;
  return LocatedRecord{row->Text("id"), ReadLocation(*row)};
}

std::optional<RecordLocation> SelectRecordLocation(db::Session& session, db::CompanyId company,
                                                   std::string_view id) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT version, render_version, record_seq, closed_at FROM orders
      WHERE company_id = $1 AND id = $2
      )sql";
  const auto row = session.One<kSelect>(company, id);
  if (!row) return std::nullopt;
  return ReadLocation(*row);
}

void ForgetRecord(db::Tx& tx, Order& order) {
  order.record_seq.reset();
  tx.RunOne(R"sql(
      UPDATE orders SET record_seq = NULL, business_day = $3, checksum = $4
      WHERE company_id = $1 AND id = $2
      )sql",
            order.company, order.id, order.business_day, ChecksumOf(order));
}

// Checks

std::vector<OrderKey> SelectKeysBefore(db::Session& session, db::CompanyId company,
                                       const OrderKey& before, int64_t limit) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT created_at, id FROM orders
      WHERE company_id = $1 AND (created_at, id) < ($2, $3)
      ORDER BY created_at DESC, id DESC LIMIT $4
      )sql";
  auto rows = session.Query<kSelect>(company, before.created_at, before.id, limit);
  std::vector<OrderKey> keys;
  while (rows.Next()) keys.push_back({.created_at = rows.Int("created_at"), .id = rows.Text("id")});
  return keys;
}

bool FacetFits(db::Session& session, const Order& order) {
  const auto& [status, service_type, source, paid, delivery_status] = FacetValues(order);
  return session.Exists(R"sql(
      SELECT 1 FROM order_facet
      WHERE company_id = $1 AND facet = $2 AND status = $3 AND service_type = $4 AND source = $5
        AND paid = $6 AND delivery_status = $7
      )sql",
                        order.company, order.facet, status, service_type, source, paid,
                        delivery_status);
}

int64_t CountWrongFacets(db::Session& session, db::CompanyId company) {
  return session.GetInt(R"sql(
      SELECT count(*) FROM order_facet AS f
      LEFT JOIN (
        SELECT o.facet AS facet, count(*) AS orders FROM orders AS o
        WHERE o.company_id = $1 GROUP BY o.facet
      ) AS n ON n.facet = f.facet
      WHERE f.company_id = $1 AND f.orders <> coalesce(n.orders, 0)
      )sql",
                        company);
}

int64_t CountOrders(db::Session& session, db::CompanyId company) {
  return session.GetInt(R"sql(
      SELECT coalesce(sum(f.orders), 0) FROM order_facet AS f WHERE f.company_id = $1
      )sql",
                        company);
}

int64_t CountOrdersOf(db::Session& session, db::CompanyId company, std::string_view source) {
  return session.GetInt(R"sql(
      SELECT coalesce(sum(f.orders), 0) FROM order_facet AS f
      WHERE f.company_id = $1 AND f.source = $2
      )sql",
                        company, source);
}

bool HasOrderOf(db::Session& session, db::CompanyId company, std::string_view source, Origin origin,
                UtcMs since) {
  return session.Exists(R"sql(
      SELECT 1 FROM orders
      WHERE company_id = $1 AND created_at >= $4 AND source = $2 AND origin = $3 LIMIT 1
      )sql",
                        company, source, static_cast<int64_t>(origin), since);
}

std::vector<std::string> SelectIdsAfter(db::Session& session, db::CompanyId company,
                                        std::string_view id, int64_t limit) {
  return session.FindTexts(
      R"sql(SELECT id FROM orders WHERE company_id = $1 AND id > $2 ORDER BY id LIMIT $3)sql",
      company, id, limit);
}

std::vector<std::string> SelectIdsChangedSince(db::Session& session, db::CompanyId company,
                                               UtcMs since) {
  return session.FindTexts(R"sql(
      SELECT id FROM orders WHERE company_id = $1 AND updated_at >= $2 ORDER BY updated_at, id
      )sql",
                           company, since);
}

// Numbers

int64_t SelectLastNumber(db::Session& session, db::CompanyId company, UtcMs begin, UtcMs end) {
  // `+ 0` keeps SQLite from searching the maximum in the index of order numbers.
  return session.GetInt(R"sql(
      SELECT coalesce(max(order_number + 0), 0) FROM orders
      WHERE company_id = $1 AND created_at >= $2 AND created_at < $3
      )sql",
                        company, begin, end);
}

void DeleteAll(db::Tx& tx, db::CompanyId company) {
  tx.Run(R"sql(DELETE FROM discount WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM payment WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM combo_modifier WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM combo WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM order_status WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM orders WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM order_facet WHERE company_id = $1)sql", company);
}

std::vector<OrderSum> SelectSumsBefore(db::Session& session, db::CompanyId company,
                                       const OrderKey& before, int64_t limit) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT created_at, id, created_seq, version, total, total_paid FROM orders
      WHERE company_id = $1 AND (created_at, id) < ($2, $3)
      ORDER BY created_at DESC, id DESC LIMIT $4
      )sql";
  auto rows = session.Query<kSelect>(company, before.created_at, before.id, limit);
  std::vector<OrderSum> sums;
  while (rows.Next()) {
    sums.push_back({.key = {.created_at = rows.Int("created_at"), .id = rows.Text("id")},
                    .created_seq = rows.Int("created_seq"),
                    .version = rows.Int("version"),
                    .total = rows.Int("total"),
                    .total_paid = rows.Int("total_paid")});
  }
  return sums;
}

}  // namespace comanda::orders
