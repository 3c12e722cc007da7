#include "cloud/taken_store.h"

#include <charconv>

#include "base/concat.h"
#include "base/text.h"
#include "cloud/journal_store.h"

namespace comanda::cloud::store {

Seen FindSeen(db::Session& session, db::CompanyId company, std::string_view order_id) {
  const auto text = session.FindText(
      R"sql(SELECT seen FROM cloud_order WHERE company_id = $1 AND order_id = $2)sql", company,
      order_id);
  return text ? SeenFromJson(*text) : Seen{};
}

void PutSeen(db::Tx& tx, db::CompanyId company, std::string_view order_id, const Seen& seen) {
  tx.Run(R"sql(UPDATE cloud_order SET seen = $3 WHERE company_id = $1 AND order_id = $2)sql",
         company, order_id, ToJson(seen));
}

std::string WhyParked(db::Session& session, db::CompanyId company, std::string_view order_id) {
  return session
      .FindText(R"sql(SELECT parked FROM cloud_order WHERE company_id = $1 AND order_id = $2)sql",
                company, order_id)
      .value_or("");
}

std::vector<Step> WaitingSteps(db::Session& session, db::CompanyId company,
                               std::string_view order_id) {
  static constexpr db::Sql kSteps = R"sql(
      SELECT position, kind, body FROM cloud_step
      WHERE company_id = $1 AND order_id = $2 ORDER BY position
      )sql";
  auto rows = session.Query<kSteps>(company, order_id);
  std::vector<Step> steps;
  while (rows.Next()) {
    steps.push_back({.position = rows.Int("position"),
                     .kind = KindNamed(rows.Text("kind")),
                     .body = rows.Text("body")});
  }
  return steps;
}

std::vector<StepKind> WaitingKinds(db::Session& session, db::CompanyId company,
                                   std::string_view order_id) {
  std::vector<StepKind> kinds;
  for (const Step& step : WaitingSteps(session, company, order_id)) kinds.push_back(step.kind);
  return kinds;
}

std::vector<std::string> WaitingRows(db::Session& session, db::CompanyId company,
                                     std::string_view order_id) {
  std::vector<std::string> ids;
  for (const std::string& list : session.FindTexts(R"sql(
           SELECT row_ids FROM cloud_step
           WHERE company_id = $1 AND order_id = $2
             AND (kind = 'combos' OR kind = 'discount' OR kind = 'payment')
           )sql",
                                                   company, order_id)) {
    std::string_view rest = list;
    while (!rest.empty()) ids.emplace_back(TakePiece(rest, ','));
  }
  return ids;
}

std::vector<std::string> WaitingRiders(db::Session& session, db::CompanyId company,
                                       std::string_view order_id) {
  return session.FindTexts(R"sql(
      SELECT body FROM cloud_step
      WHERE company_id = $1 AND order_id = $2 AND (kind = 'rider' OR kind = 'no_rider')
      ORDER BY position
      )sql",
                           company, order_id);
}

std::vector<std::string> OpenOrders(db::Session& session, db::CompanyId company, int64_t limit) {
  return session.FindTexts(R"sql(
      SELECT order_id FROM cloud_order WHERE company_id = $1 AND is_open = 1
      ORDER BY order_id LIMIT $2
      )sql",
                           company, limit);
}

bool PutDifference(db::Tx& tx, db::CompanyId company, const Difference& difference, UtcMs at) {
  const bool is_there = tx.Exists(R"sql(
      SELECT 1 FROM cloud_difference
      WHERE company_id = $1 AND order_id = $2 AND kind = $3 AND box = $4 AND cloud = $5
        AND detail = $6
      )sql",
                                  company, difference.order_id, difference.kind, difference.box,
                                  difference.cloud, difference.detail);
  if (is_there) return false;
  RemoveDifference(tx, company, difference.order_id, difference.kind);
  InsertDifference(tx, company, difference, at);
  return true;
}

void RemoveDifference(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                      std::string_view kind) {
  tx.Run(R"sql(
      DELETE FROM cloud_difference WHERE company_id = $1 AND order_id = $2 AND kind = $3
      )sql",
         company, order_id, kind);
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
                      .kind = "date",
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
