#include "cloud/orders/journal_store.h"

#include <algorithm>
#include <charconv>

#include "base/concat.h"
#include "base/id.h"
#include "base/problem.h"
#include "base/text.h"
#include "json/writer.h"

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

// `noun`: what has the kind.
template <typename Kind, size_t kSize>
Kind KindNamed(std::string_view name, const std::array<std::string_view, kSize>& names,
               std::string_view noun) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw Fault(Fault::Kind::kDamaged, Concat({"a ", noun, " of the journal has no known kind"}));
  }
  return static_cast<Kind>(found - names.begin());
}

StepKind StepKindNamed(std::string_view name) {
  return KindNamed<StepKind>(name, kStepKindNames, "step");
}

DifferenceKind DifferenceKindNamed(std::string_view name) {
  return KindNamed<DifferenceKind>(name, kDifferenceKindNames, "difference");
}

bool IsThere(db::Session& session, db::CompanyId company, const Difference& difference) {
  return session.Exists(R"sql(
      SELECT 1 FROM cloud_difference
      WHERE company_id = $1 AND order_id = $2 AND kind = $3 AND box = $4 AND cloud = $5
        AND detail = $6
      )sql",
                        company, difference.order_id, Name(difference.kind), difference.box,
                        difference.cloud, difference.detail);
}

}  // namespace

std::optional<OrderRow> FindOrder(db::Session& session, db::CompanyId company,
                                  std::string_view order_id) {
  static constexpr db::Sql kOrder = R"sql(
      SELECT order_id, planned_version, base, waiting, is_open, touched_at FROM cloud_order
      WHERE company_id = $1 AND order_id = $2
      )sql";
  const auto row = session.One<kOrder>(company, order_id);
  if (!row) return std::nullopt;
  return OrderRow{.order_id = row->Text("order_id"),
                  .planned_version = row->Int("planned_version"),
                  .mirror = MirrorFromJson(row->Text("base")),
                  .waiting = row->Int("waiting"),
                  .is_open = row->Bool("is_open"),
                  .touched_at = row->Int("touched_at")};
}

void PutOrder(db::Tx& tx, db::CompanyId company, const OrderRow& row) {
  tx.Run(R"sql(
      INSERT INTO cloud_order (company_id, order_id, planned_version, base, waiting, is_open, touched_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      ON CONFLICT (company_id, order_id)
      DO UPDATE SET planned_version = excluded.planned_version, base = excluded.base,
                    waiting = excluded.waiting, is_open = excluded.is_open,
                    touched_at = excluded.touched_at
      )sql",
         company, row.order_id, row.planned_version, ToJson(row.mirror), row.waiting,
         int64_t{row.is_open}, row.touched_at);
}

std::vector<std::string> NextOrders(db::Session& session, db::CompanyId company, Among among,
                                    UtcMs now, int64_t limit) {
  switch (among) {
    case Among::kOpen:
      return session.FindTexts(R"sql(
          SELECT order_id FROM cloud_order
          WHERE company_id = $1 AND waiting > 0 AND parked = '' AND is_open = 1
          ORDER BY touched_at, order_id LIMIT $2
          )sql",
                               company, limit);
    case Among::kRecent:
      return session.FindTexts(R"sql(
          SELECT order_id FROM cloud_order
          WHERE company_id = $1 AND waiting > 0 AND parked = '' AND touched_at >= $2
          ORDER BY touched_at, order_id LIMIT $3
          )sql",
                               company, now - kPresentMs, limit);
    case Among::kAll:
      return session.FindTexts(R"sql(
          SELECT order_id FROM cloud_order WHERE company_id = $1 AND waiting > 0 AND parked = ''
          ORDER BY touched_at, order_id LIMIT $2
          )sql",
                               company, limit);
  }
  return {};
}

std::vector<std::string> WaitingOrders(db::Session& session, db::CompanyId company) {
  return session.FindTexts(R"sql(
      SELECT order_id FROM cloud_order WHERE company_id = $1 AND waiting > 0 AND parked = ''
      UNION ALL
      SELECT order_id FROM cloud_order WHERE company_id = $1 AND parked > ''
      )sql",
                           company);
}

bool IsWaiting(db::Session& session, db::CompanyId company, std::string_view order_id) {
  return session.Exists(R"sql(
      SELECT 1 FROM cloud_order
      WHERE company_id = $1 AND order_id = $2 AND waiting > 0 AND parked = ''
      )sql",
                        company, order_id);
}

int64_t StepsWaiting(db::Session& session, db::CompanyId company, std::string_view order_id) {
  return session.GetInt(R"sql(
      SELECT coalesce(sum(waiting), 0) FROM cloud_order
      WHERE company_id = $1 AND order_id = $2 AND parked = ''
      )sql",
                        company, order_id);
}

bool HasOrder(db::Session& session, db::CompanyId company, std::string_view order_id) {
  return session.Exists(
      R"sql(SELECT 1 FROM cloud_order WHERE company_id = $1 AND order_id = $2)sql", company,
      order_id);
}

bool Park(db::Tx& tx, db::CompanyId company, std::string_view order_id, std::string_view why,
          std::string_view problem) {
  return tx.RunCounted(R"sql(
             UPDATE cloud_order SET parked = $3, problem = $4
             WHERE company_id = $1 AND order_id = $2 AND parked <> $3
             )sql",
                       company, order_id, why, problem) == 1;
}

bool ParkUnanswered(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                    std::string_view trouble) {
  std::string problem;
  json::Writer out(problem);
  out.BeginObject().Key("title").Text("Unanswered").Key("detail").Text(trouble).EndObject();
  return Park(tx, company, order_id, kParkedUnanswered, problem);
}

bool Unpark(db::Tx& tx, db::CompanyId company, std::string_view order_id) {
  return Park(tx, company, order_id, "", "");
}

void InsertStep(db::Tx& tx, db::CompanyId company, std::string_view order_id, const Step& step) {
  tx.Run(R"sql(
      INSERT INTO cloud_step (company_id, order_id, position, kind, key, body, row_ids, occurred_at,
                              is_in_mirror)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      )sql",
         company, order_id, step.position, Name(step.kind), step.key, step.body,
         JoinedByCommas(step.row_ids), step.occurred_at, int64_t{step.is_in_mirror});
}

std::optional<Waiting> FirstStep(db::Session& session, db::CompanyId company,
                                 std::string_view order_id) {
  static constexpr db::Sql kFirst = R"sql(
      SELECT order_id, position, kind, key, body, row_ids, occurred_at, is_in_mirror, attempts
      FROM cloud_step WHERE company_id = $1 AND order_id = $2 ORDER BY position LIMIT 1
      )sql";
  const auto row = session.One<kFirst>(company, order_id);
  if (!row) return std::nullopt;
  return Waiting{.order_id = row->Text("order_id"),
                 .step = {.position = row->Int("position"),
                          .kind = StepKindNamed(row->Text("kind")),
                          .key = row->Text("key"),
                          .body = row->Text("body"),
                          .row_ids = Divided(row->Text("row_ids")),
                          .occurred_at = row->Int("occurred_at"),
                          .is_in_mirror = row->Bool("is_in_mirror")},
                 .attempts = row->Int("attempts")};
}

bool HasStep(db::Session& session, db::CompanyId company, const Waiting& waiting) {
  return session.Exists(R"sql(
      SELECT 1 FROM cloud_step WHERE company_id = $1 AND order_id = $2 AND position = $3
      )sql",
                        company, waiting.order_id, waiting.step.position);
}

void CountAttempt(db::Tx& tx, db::CompanyId company, const Waiting& waiting, UtcMs now) {
  tx.Run(R"sql(
      UPDATE cloud_step SET attempts = attempts + 1, first_sent_at = coalesce(first_sent_at, $4)
      WHERE company_id = $1 AND order_id = $2 AND position = $3
      )sql",
         company, waiting.order_id, waiting.step.position, now);
}

void ReplaceStep(db::Tx& tx, db::CompanyId company, const Waiting& waiting, const Step& step) {
  tx.Run(R"sql(
      UPDATE cloud_step SET key = $4, body = $5
      WHERE company_id = $1 AND order_id = $2 AND position = $3
      )sql",
         company, waiting.order_id, waiting.step.position, step.key, step.body);
}

void DeleteStep(db::Tx& tx, db::CompanyId company, const Waiting& waiting) {
  tx.Run(R"sql(
      DELETE FROM cloud_step WHERE company_id = $1 AND order_id = $2 AND position = $3
      )sql",
         company, waiting.order_id, waiting.step.position);
}

void DeleteSteps(db::Tx& tx, db::CompanyId company, std::string_view order_id) {
  tx.Run(R"sql(DELETE FROM cloud_step WHERE company_id = $1 AND order_id = $2)sql", company,
         order_id);
}

void InsertDifference(db::Tx& tx, db::CompanyId company, const Difference& difference, UtcMs at) {
  tx.Run(R"sql(
      INSERT INTO cloud_difference (company_id, number, order_id, kind, box, cloud, detail, at)
      SELECT $1, coalesce(max(number), 0) + 1, $2, $3, $4, $5, $6, $7 FROM cloud_difference
      WHERE company_id = $1
      )sql",
         company, difference.order_id, Name(difference.kind), difference.box, difference.cloud,
         difference.detail, at);
}

std::vector<Difference> ListDifferences(db::Session& session, db::CompanyId company,
                                        int64_t limit) {
  static constexpr db::Sql kNewest = R"sql(
      SELECT order_id, kind, box, cloud, detail, at FROM cloud_difference
      WHERE company_id = $1 ORDER BY number DESC LIMIT $2
      )sql";
  auto rows = session.Query<kNewest>(company, limit);
  std::vector<Difference> differences;
  while (rows.Next()) {
    differences.push_back({.order_id = rows.Text("order_id"),
                           .kind = DifferenceKindNamed(rows.Text("kind")),
                           .box = rows.Text("box"),
                           .cloud = rows.Text("cloud"),
                           .detail = rows.Text("detail"),
                           .at = rows.Int("at")});
  }
  return differences;
}

std::vector<Parked> ListParked(db::Session& session, db::CompanyId company, int64_t limit) {
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
  return tx.RunCounted(R"sql(
      UPDATE cloud_order SET parked = '', problem = ''
      WHERE company_id = $1 AND parked > '' AND parked <> $2
      )sql",
                       company, kCancelledButPaid);
}

std::string WhyParked(db::Session& session, db::CompanyId company, std::string_view order_id) {
  return session
      .FindText(R"sql(SELECT parked FROM cloud_order WHERE company_id = $1 AND order_id = $2)sql",
                company, order_id)
      .value_or("");
}

std::vector<std::string> OpenOrders(db::Session& session, db::CompanyId company, int64_t limit) {
  return session.FindTexts(R"sql(
      SELECT order_id FROM cloud_order WHERE company_id = $1 AND is_open = 1
      ORDER BY order_id LIMIT $2
      )sql",
                           company, limit);
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
  counts.unreadable = session.GetInt(
      R"sql(SELECT count(*) FROM cloud_difference WHERE company_id = $1 AND kind = $2)sql", company,
      Name(DifferenceKind::kUnreadable));
  counts.oldest = session.FindInt(R"sql(
      SELECT touched_at FROM cloud_order WHERE company_id = $1 AND waiting > 0 AND parked = ''
      ORDER BY touched_at, order_id LIMIT 1
      )sql",
                                  company);
  return counts;
}

void NoteDifference(db::Tx& tx, db::CompanyId company, const Difference& difference, UtcMs at) {
  if (!IsThere(tx, company, difference)) InsertDifference(tx, company, difference, at);
}

bool PutDifference(db::Tx& tx, db::CompanyId company, const Difference& difference, UtcMs at) {
  if (IsThere(tx, company, difference)) return false;
  RemoveDifference(tx, company, difference.order_id, difference.kind);
  InsertDifference(tx, company, difference, at);
  return true;
}

std::set<DifferenceKind> KindsOfDifferences(db::Session& session, db::CompanyId company,
                                            std::string_view order_id) {
  std::set<DifferenceKind> kinds;
  for (const std::string& kind : session.FindTexts(R"sql(
           SELECT kind FROM cloud_difference WHERE company_id = $1 AND order_id = $2
           )sql",
                                                   company, order_id)) {
    kinds.insert(DifferenceKindNamed(kind));
  }
  return kinds;
}

void RemoveDifference(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                      DifferenceKind kind) {
  tx.Run(R"sql(
      DELETE FROM cloud_difference WHERE company_id = $1 AND order_id = $2 AND kind = $3
      )sql",
         company, order_id, Name(kind));
}

void PutUnreadable(db::Tx& tx, db::CompanyId company, const std::string& cloud_id,
                   const std::string& box, const std::string& why, UtcMs at) {
  RemoveUnreadable(tx, company, cloud_id);
  InsertDifference(tx, company,
                   {.order_id = "",
                    .kind = DifferenceKind::kUnreadable,
                    .box = box,
                    .cloud = cloud_id,
                    .detail = why},
                   at);
}

void RemoveUnreadable(db::Tx& tx, db::CompanyId company, std::string_view cloud_id) {
  tx.Run(R"sql(
      DELETE FROM cloud_difference
      WHERE company_id = $1 AND order_id = '' AND kind = $2 AND cloud = $3
      )sql",
         company, Name(DifferenceKind::kUnreadable), cloud_id);
}

void CountDate(db::Tx& tx, db::CompanyId company, std::string_view day_here,
               std::string_view day_there, UtcMs at) {
  static constexpr db::Sql kOfDays = R"sql(
      SELECT number, detail FROM cloud_difference
      WHERE company_id = $1 AND order_id = '' AND kind = 'date' AND box = $2 AND cloud = $3
      )sql";
  int64_t number = -1;
  int64_t orders = 0;
  if (const auto row = tx.One<kOfDays>(company, day_here, day_there)) {
    number = row->Int("number");
    const std::string_view detail = row->View("detail");
    std::from_chars(detail.data(), detail.data() + detail.size(), orders);
  }
  const std::string detail = Concat({orders + 1, orders == 0 ? " order" : " orders"});
  if (number < 0) {
    InsertDifference(tx, company,
                     {.order_id = "",
                      .kind = DifferenceKind::kDate,
                      .box = std::string(day_here),
                      .cloud = std::string(day_there),
                      .detail = detail},
                     at);
    return;
  }
  tx.RunOne(R"sql(
      UPDATE cloud_difference SET detail = $3, at = $4 WHERE company_id = $1 AND number = $2
      )sql",
            company, number, detail, at);
}

}  // namespace comanda::cloud::store
