#include "cloud/journal_store.h"

#include <algorithm>

#include "base/problem.h"
#include "base/text.h"

namespace comanda::cloud::store {
namespace {

std::vector<std::string> Divided(std::string_view text) {
  std::vector<std::string> ids;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    ids.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return ids;
}

// One of so many rows is none of these.
int64_t RowsFor(const OrderIds& without) { return static_cast<int64_t>(without.size()) + 1; }

std::optional<std::string> FirstBut(const OrderIds& without, std::vector<std::string> ids) {
  for (std::string& id : ids) {
    if (!without.contains(id)) return std::move(id);
  }
  return std::nullopt;
}

}  // namespace

std::optional<OrderRow> FindOrder(db::Session& session, db::CompanyId company,
                                  std::string_view order_id) {
  static constexpr db::Sql kOrder = R"sql(
      SELECT order_id, planned_version, image, waiting, is_open, touched_at FROM cloud_order
      WHERE company_id = $1 AND order_id = $2
      )sql";
  const auto row = session.One<kOrder>(company, order_id);
  if (!row) return std::nullopt;
  return OrderRow{.order_id = row->Text("order_id"),
                  .planned_version = row->Int("planned_version"),
                  .image = ImageFromJson(row->Text("image")),
                  .waiting = row->Int("waiting"),
                  .is_open = row->Bool("is_open"),
                  .touched_at = row->Int("touched_at")};
}

bool IsPlannedUpTo(db::Session& session, db::CompanyId company, std::string_view order_id,
                   int64_t planned_version, int64_t waiting) {
  static constexpr db::Sql kPlanned = R"sql(
      SELECT planned_version, waiting FROM cloud_order WHERE company_id = $1 AND order_id = $2
      )sql";
  const auto row = session.One<kPlanned>(company, order_id);
  if (!row) return planned_version == 0 && waiting == 0;
  return row->Int("planned_version") == planned_version && row->Int("waiting") == waiting;
}

void PutOrder(db::Tx& tx, db::CompanyId company, const OrderRow& row) {
  tx.Run(R"sql(
      INSERT INTO cloud_order (company_id, order_id, planned_version, image, waiting, is_open, touched_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      ON CONFLICT (company_id, order_id)
      DO UPDATE SET planned_version = excluded.planned_version, image = excluded.image,
                    waiting = excluded.waiting, is_open = excluded.is_open,
                    touched_at = excluded.touched_at
      )sql",
         company, row.order_id, row.planned_version, ToJson(row.image), row.waiting,
         int64_t{row.is_open}, row.touched_at);
}

std::optional<std::string> FirstWaiting(db::Session& session, db::CompanyId company,
                                        const OrderIds& without) {
  return FirstBut(without, session.FindTexts(R"sql(
      SELECT order_id FROM cloud_order WHERE company_id = $1 AND waiting > 0 AND parked = ''
      ORDER BY touched_at, order_id LIMIT $2
      )sql",
                                             company, RowsFor(without)));
}

std::optional<std::string> FirstWaitingSince(db::Session& session, db::CompanyId company,
                                             UtcMs since, const OrderIds& without) {
  auto open = FirstBut(without, session.FindTexts(R"sql(
      SELECT order_id FROM cloud_order
      WHERE company_id = $1 AND waiting > 0 AND parked = '' AND is_open = 1
      ORDER BY touched_at, order_id LIMIT $2
      )sql",
                                                  company, RowsFor(without)));
  if (open) return open;
  return FirstBut(without, session.FindTexts(R"sql(
      SELECT order_id FROM cloud_order
      WHERE company_id = $1 AND waiting > 0 AND parked = '' AND touched_at >= $2
      ORDER BY touched_at, order_id LIMIT $3
      )sql",
                                             company, since, RowsFor(without)));
}

bool SetParked(db::Tx& tx, db::CompanyId company, std::string_view order_id, std::string_view why,
               std::string_view problem) {
  return tx.Run(R"sql(
             UPDATE cloud_order SET parked = $3, problem = $4
             WHERE company_id = $1 AND order_id = $2 AND parked <> $3
             )sql",
                company, order_id, why, problem) == 1;
}

StepKind KindNamed(std::string_view name) {
  const auto found = std::ranges::find(kStepKindNames, name);
  if (found == kStepKindNames.end()) {
    throw Fault(Fault::Kind::kDamaged, "a step of the journal has no known kind");
  }
  return static_cast<StepKind>(found - kStepKindNames.begin());
}

void InsertStep(db::Tx& tx, db::CompanyId company, std::string_view order_id, const Step& step) {
  tx.Run(R"sql(
      INSERT INTO cloud_step (company_id, order_id, position, kind, key, body, row_ids, occurred_at, state)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'waiting')
      )sql",
         company, order_id, step.position, Name(step.kind), step.key, step.body,
         JoinedByCommas(step.row_ids), step.occurred_at);
}

std::optional<Waiting> FirstStep(db::Session& session, db::CompanyId company,
                                 std::string_view order_id) {
  static constexpr db::Sql kFirst = R"sql(
      SELECT order_id, position, kind, key, body, row_ids, occurred_at, attempts FROM cloud_step
      WHERE company_id = $1 AND order_id = $2 ORDER BY position LIMIT 1
      )sql";
  const auto row = session.One<kFirst>(company, order_id);
  if (!row) return std::nullopt;
  return Waiting{.order_id = row->Text("order_id"),
                 .step = {.position = row->Int("position"),
                          .kind = KindNamed(row->Text("kind")),
                          .key = row->Text("key"),
                          .body = row->Text("body"),
                          .row_ids = Divided(row->Text("row_ids")),
                          .occurred_at = row->Int("occurred_at")},
                 .attempts = row->Int("attempts")};
}

void CountAttempt(db::Tx& tx, db::CompanyId company, std::string_view order_id, int64_t position,
                  UtcMs now) {
  tx.Run(R"sql(
      UPDATE cloud_step SET attempts = attempts + 1, first_sent_at = coalesce(first_sent_at, $4)
      WHERE company_id = $1 AND order_id = $2 AND position = $3
      )sql",
         company, order_id, position, now);
}

void UpdateStep(db::Tx& tx, db::CompanyId company, std::string_view order_id, int64_t position,
                std::string_view key, std::string_view body) {
  tx.Run(R"sql(
      UPDATE cloud_step SET key = $4, body = $5
      WHERE company_id = $1 AND order_id = $2 AND position = $3
      )sql",
         company, order_id, position, key, body);
}

void DeleteStep(db::Tx& tx, db::CompanyId company, std::string_view order_id, int64_t position) {
  const int64_t deleted = tx.Run(R"sql(
      DELETE FROM cloud_step WHERE company_id = $1 AND order_id = $2 AND position = $3
      )sql",
                                 company, order_id, position);
  if (deleted == 0) return;
  tx.RunOne(R"sql(
      UPDATE cloud_order SET waiting = waiting - 1 WHERE company_id = $1 AND order_id = $2
      )sql",
            company, order_id);
}

void InsertDifference(db::Tx& tx, db::CompanyId company, const Difference& difference, UtcMs at) {
  tx.Run(R"sql(
      INSERT INTO cloud_difference (company_id, number, order_id, kind, box, cloud, detail, at)
      SELECT $1, coalesce(max(number), 0) + 1, $2, $3, $4, $5, $6, $7 FROM cloud_difference
      WHERE company_id = $1
      )sql",
         company, difference.order_id, difference.kind, difference.box, difference.cloud,
         difference.detail, at);
}

std::vector<Difference> SelectDifferences(db::Session& session, db::CompanyId company,
                                          int64_t limit) {
  static constexpr db::Sql kNewest = R"sql(
      SELECT order_id, kind, box, cloud, detail, at FROM cloud_difference
      WHERE company_id = $1 ORDER BY number DESC LIMIT $2
      )sql";
  auto rows = session.Query<kNewest>(company, limit);
  std::vector<Difference> differences;
  while (rows.Next()) {
    differences.push_back({.order_id = rows.Text("order_id"),
                           .kind = rows.Text("kind"),
                           .box = rows.Text("box"),
                           .cloud = rows.Text("cloud"),
                           .detail = rows.Text("detail"),
                           .at = rows.Int("at")});
  }
  return differences;
}

std::vector<Parked> SelectParked(db::Session& session, db::CompanyId company, int64_t limit) {
  static constexpr db::Sql kParked = R"sql(
      SELECT order_id, parked, problem FROM cloud_order
      WHERE company_id = $1 AND parked > '' ORDER BY order_id LIMIT $2
      )sql";
  auto rows = session.Query<kParked>(company, limit);
  std::vector<Parked> parked;
  while (rows.Next()) {
    parked.push_back({.order_id = rows.Text("order_id"),
                      .why = rows.Text("parked"),
                      .problem = rows.Text("problem")});
  }
  return parked;
}

int64_t UnparkAll(db::Tx& tx, db::CompanyId company) {
  return tx.Run(R"sql(
      UPDATE cloud_order SET parked = '', problem = '' WHERE company_id = $1 AND parked > ''
      )sql",
                company);
}

bool IsParked(db::Session& session, db::CompanyId company, std::string_view order_id) {
  return session.Exists(R"sql(
      SELECT 1 FROM cloud_order WHERE company_id = $1 AND order_id = $2 AND parked > ''
      )sql",
                        company, order_id);
}

void DeleteSteps(db::Tx& tx, db::CompanyId company, std::string_view order_id) {
  tx.Run(R"sql(DELETE FROM cloud_step WHERE company_id = $1 AND order_id = $2)sql", company,
         order_id);
  tx.Run(R"sql(UPDATE cloud_order SET waiting = 0 WHERE company_id = $1 AND order_id = $2)sql",
         company, order_id);
}

Counts Count(db::Session& session, db::CompanyId company) {
  Counts counts;
  counts.steps_waiting = session.GetInt(R"sql(
      SELECT coalesce(sum(waiting), 0) FROM cloud_order
      WHERE company_id = $1 AND waiting > 0 AND parked = ''
      )sql",
                                        company);
  counts.orders_parked = session.GetInt(
      R"sql(SELECT count(*) FROM cloud_order WHERE company_id = $1 AND parked > '')sql", company);
  counts.differences = session.GetInt(
      R"sql(SELECT count(*) FROM cloud_difference WHERE company_id = $1)sql", company);
  counts.oldest = session.FindInt(R"sql(
      SELECT touched_at FROM cloud_order WHERE company_id = $1 AND waiting > 0 AND parked = ''
      ORDER BY touched_at, order_id LIMIT 1
      )sql",
                                  company);
  return counts;
}

}  // namespace comanda::cloud::store
