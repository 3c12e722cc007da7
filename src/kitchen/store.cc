#include "kitchen/store.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/problem.h"
#include "db/clause_builder.h"
#include "json/reader.h"
#include "kitchen/rules.h"
#include "menu/product.h"

namespace comanda::kitchen::store {
namespace {

// A change is dated up to 5 minutes ahead of the time at which it is written (http/context.h).
constexpr int64_t kAheadMs = 5 * kMinuteMs;

// The member `name` of a record that the order keeps of its client or table.
std::optional<std::string> NameIn(std::string_view record) {
  if (record.empty()) return std::nullopt;
  const json::Document document = json::Document::ParseStored(record);
  const json::Value root = document.root();
  if (root.kind() != json::Kind::kObject) return std::nullopt;
  const std::optional<json::Value> name = root.Find("name");
  if (!name || name->kind() != json::Kind::kText) return std::nullopt;
  return std::string(name->text());
}

template <typename Enum>
Enum ReadEnum(int64_t number, size_t values) {
  if (number < 0 || static_cast<size_t>(number) >= values) {
    throw Fault(Fault::Kind::kDamaged, "an order's status or type is out of range");
  }
  return static_cast<Enum>(number);
}

Ticket ReadOrder(const auto& row) {
  Ticket ticket;
  ticket.order_id = row.Text("id");
  ticket.order_version = row.Int("version");
  ticket.order_number = row.Int("order_number");
  ticket.public_id = row.Text("public_id");
  ticket.status = ReadEnum<orders::Status>(row.Int("status"), orders::kStatusNames.size());
  ticket.service_type =
      ReadEnum<orders::ServiceType>(row.Int("service_type"), orders::kServiceTypeNames.size());
  ticket.source = row.Text("source");
  ticket.table = NameIn(row.View("table_snapshot"));
  ticket.name = row.OptionalText("order_title");
  if (!ticket.name) ticket.name = NameIn(row.View("client"));
  ticket.comment = row.OptionalText("comment");
  ticket.scheduled_for = row.OptionalInt("scheduled_delivery_date");
  ticket.cancel_reason = row.OptionalText("cancel_reason");
  ticket.canceled_at = row.OptionalInt("canceled_at");
  ticket.created_seq = row.Int("created_seq");
  ticket.writes = row.OptionalInt("writes").value_or(0);
  ticket.rush_at = row.OptionalInt("rush_at");
  ticket.last_out_at = row.OptionalInt("out_at");
  ticket.out_lines = static_cast<size_t>(row.OptionalInt("out_lines").value_or(0));
  if (const std::optional<int64_t> move = row.OptionalInt("call_move")) {
    ticket.call = Call{*move, row.Int("called_at"), row.OptionalInt("call_lines")};
  }
  ticket.moves = row.OptionalInt("last_move").value_or(0) + 1;
  ticket.moved_at = row.OptionalInt("moved_at").value_or(0);
  ticket.lead_ms = row.OptionalInt("lead_minutes").value_or(Settings().lead_minutes) * kMinuteMs;
  return ticket;
}

Line ReadLine(const auto& row) {
  Line line;
  line.id = row.Text("id");
  line.station_id = row.OptionalText("kitchen_id");
  line.product_id = row.OptionalText("product_id");
  line.quantity = row.Int("quantity");
  line.name = row.Text("product_name");
  line.variant = row.OptionalText("variant_name");
  if (line.variant == menu::kOnlyVariant) line.variant.reset();
  line.comment = row.OptionalText("comment");
  line.added_at = row.Int("created_at");
  line.canceled_at = row.OptionalInt("canceled_at");
  line.is_prepared = row.OptionalInt("prepares").value_or(1) != 0;
  line.done_at = row.OptionalInt("done_at");
  line.done_by = row.OptionalText("done_by");
  line.undone_moves = row.OptionalInt("undone_moves");
  return line;
}

// Lines come with their modifiers, one row each.
void AddLines(db::Session& session, db::CompanyId company, std::span<Ticket> tickets) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT dish.order_id, dish.id, dish.product_id, dish.product_name, dish.variant_name,
        dish.quantity, dish.comment, dish.kitchen_id, dish.created_at, dish.canceled_at, s.prepares,
        l.done_at, l.done_by, l.undone_moves, m.modifier_id, m.name AS modifier_name,
        m.unit_quantity, m.group_name
      FROM combo AS dish
      LEFT JOIN station AS s ON s.company_id = $1 AND s.id = dish.kitchen_id
      LEFT JOIN kitchen_line AS l ON l.company_id = $1 AND l.order_id = dish.order_id
        AND l.line_id = dish.id
      LEFT JOIN combo_modifier AS m ON m.company_id = $1 AND m.order_id = dish.order_id
        AND m.combo_position = dish.position
      WHERE dish.company_id = $1
      )sql";
  if (tickets.empty()) return;
  std::unordered_map<std::string_view, Ticket*> by_id;
  std::vector<db::Bound> ids;
  for (Ticket& ticket : tickets) {
    by_id.emplace(ticket.order_id, &ticket);
    ids.emplace_back(ticket.order_id);
  }
  // Few lengths of the list, so that there are few statements.
  for (const size_t length : {size_t{1}, size_t{8}, kTicketsPerRead}) {
    if (ids.size() <= length) {
      ids.resize(length, ids.front());
      break;
    }
  }
  db::ClauseBuilder sql(kSelect, {company});
  sql.And("dish.order_id IN ({})", ids)
      .OrderBy("dish.order_id, dish.position, m.position NULLS FIRST");
  auto rows = session.Query<kSelect>(sql);
  while (rows.Next()) {
    std::vector<Line>& lines = by_id.at(rows.View("order_id"))->lines;
    if (lines.empty() || lines.back().id != rows.View("id")) lines.push_back(ReadLine(rows));
    if (rows.IsNull("modifier_name")) continue;
    lines.back().modifiers.push_back({.modifier_id = rows.OptionalText("modifier_id"),
                                      .quantity = rows.Int("unit_quantity"),
                                      .name = rows.Text("modifier_name"),
                                      .group_name = rows.OptionalText("group_name")});
  }
}

// Adds the lines, and drops those without.
std::vector<Ticket> WithLines(db::Session& session, db::CompanyId company,
                              std::vector<Ticket> tickets) {
  for (size_t begin = 0; begin < tickets.size(); begin += kTicketsPerRead) {
    const size_t count = std::min(kTicketsPerRead, tickets.size() - begin);
    AddLines(session, company, std::span(tickets).subspan(begin, count));
  }
  std::erase_if(tickets, [](const Ticket& ticket) { return ticket.lines.empty(); });
  return tickets;
}

}  // namespace

std::optional<Ticket> FindTicket(db::Session& session, db::CompanyId company,
                                 std::string_view order_id) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT o.id, o.version, o.order_number, o.public_id, o.status, o.service_type, o.source,
        o.table_snapshot, o.client, o.order_title, o.comment, o.scheduled_delivery_date,
        o.cancel_reason, o.canceled_at, o.created_seq, k.writes, k.rush_at, k.out_at, k.out_lines,
        t.lead_minutes,
        h.position AS call_move, h.at AS called_at, h.lines AS call_lines,
        (SELECT max(m.position) FROM order_status AS m WHERE m.company_id = $1 AND m.order_id = o.id)
          AS last_move,
        (SELECT max(m.at) FROM order_status AS m WHERE m.company_id = $1 AND m.order_id = o.id)
          AS moved_at
      FROM orders AS o
      LEFT JOIN kitchen_order AS k ON k.company_id = $1 AND k.order_id = o.id
      LEFT JOIN kitchen_settings AS t ON t.company_id = $1
      LEFT JOIN order_status AS h ON h.company_id = $1 AND h.order_id = o.id AND h.position = (
        SELECT max(r.position) FROM order_status AS r WHERE r.company_id = $1
          AND r.order_id = o.id AND r.implied = 0 AND r.status IN (2, 3)
      )
      WHERE o.company_id = $1 AND o.id = $2
      )sql";
  std::vector<Ticket> tickets;
  if (const auto row = session.One<kSelect>(company, order_id)) tickets.push_back(ReadOrder(*row));
  tickets = WithLines(session, company, std::move(tickets));
  if (tickets.empty()) return std::nullopt;
  return std::move(tickets.front());
}

static_assert(static_cast<int>(orders::Status::kReady) == 2 &&
              static_cast<int>(orders::Status::kDelivered) == 3);

Changed ChangedTickets(db::Session& session, db::CompanyId company, int64_t after, int64_t last,
                       int64_t limit) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT e.last, o.id, o.version, o.order_number, o.public_id, o.status, o.service_type,
        o.source, o.table_snapshot, o.client, o.order_title, o.comment, o.scheduled_delivery_date,
        o.cancel_reason, o.canceled_at, o.created_seq, k.writes, k.rush_at, k.out_at, k.out_lines,
        t.lead_minutes,
        h.position AS call_move, h.at AS called_at, h.lines AS call_lines,
        (SELECT max(m.position) FROM order_status AS m WHERE m.company_id = $1 AND m.order_id = o.id)
          AS last_move,
        (SELECT max(m.at) FROM order_status AS m WHERE m.company_id = $1 AND m.order_id = o.id)
          AS moved_at
      FROM (
        SELECT n.subject_id AS id, max(n.seq) AS last FROM event AS n
        WHERE n.company_id = $1 AND n.seq > $2 AND n.seq <= $3
          AND n.subject_type IN ('order', 'ticket')
        GROUP BY n.subject_id ORDER BY max(n.seq) LIMIT $4
      ) AS e
      LEFT JOIN orders AS o ON o.company_id = $1 AND o.id = e.id
      LEFT JOIN kitchen_order AS k ON k.company_id = $1 AND k.order_id = e.id
      LEFT JOIN kitchen_settings AS t ON t.company_id = $1
      LEFT JOIN order_status AS h ON h.company_id = $1 AND h.order_id = o.id AND h.position = (
        SELECT max(r.position) FROM order_status AS r WHERE r.company_id = $1
          AND r.order_id = o.id AND r.implied = 0 AND r.status IN (2, 3)
      )
      ORDER BY e.last
      )sql";
  Changed changed{.tickets = {}, .position = last};
  {
    int64_t found = 0;
    auto rows = session.Query<kSelect>(company, after, last, limit);
    while (rows.Next()) {
      if (++found == limit) changed.position = rows.Int("last");
      if (rows.IsNull("id")) continue;
      changed.tickets.push_back(ReadOrder(rows));
      changed.tickets.back().last_seq = rows.Int("last");
    }
  }
  changed.tickets = WithLines(session, company, std::move(changed.tickets));
  return changed;
}

std::vector<Ticket> CurrentTickets(db::Session& session, db::CompanyId company, Moment moment) {
  // A line waits for hours after its order was written last, or after the time of a scheduled one;
  // the other states last an hour after a write of either side. Of orders of the last hours those
  // are left out whose lines all have marks.
  static constexpr db::Sql kSelect = R"sql(
      SELECT o.id, o.version, o.order_number, o.public_id, o.status, o.service_type, o.source,
        o.table_snapshot, o.client, o.order_title, o.comment, o.scheduled_delivery_date,
        o.cancel_reason, o.canceled_at, o.created_seq, k.writes, k.rush_at, k.out_at, k.out_lines,
        t.lead_minutes,
        h.position AS call_move, h.at AS called_at, h.lines AS call_lines,
        (SELECT max(m.position) FROM order_status AS m WHERE m.company_id = $1 AND m.order_id = o.id)
          AS last_move,
        (SELECT max(m.at) FROM order_status AS m WHERE m.company_id = $1 AND m.order_id = o.id)
          AS moved_at
      FROM (
        SELECT u.id AS id FROM orders AS u WHERE u.company_id = $1 AND u.updated_at >= $2
        UNION
        SELECT d.id AS id FROM orders AS d
        WHERE d.company_id = $1 AND d.scheduled_delivery_date >= $2
        UNION
        SELECT w.order_id AS id FROM kitchen_order AS w
        WHERE w.company_id = $1 AND w.changed_at >= $3
      ) AS n
      JOIN orders AS o ON o.company_id = $1 AND o.id = n.id
      LEFT JOIN kitchen_order AS k ON k.company_id = $1 AND k.order_id = o.id
      LEFT JOIN kitchen_settings AS t ON t.company_id = $1
      LEFT JOIN order_status AS h ON h.company_id = $1 AND h.order_id = o.id AND h.position = (
        SELECT max(r.position) FROM order_status AS r WHERE r.company_id = $1
          AND r.order_id = o.id AND r.implied = 0 AND r.status IN (2, 3)
      )
      WHERE $4 = 1 OR o.updated_at >= $3 OR k.changed_at >= $3 OR EXISTS (
        SELECT 1 FROM combo AS c
        LEFT JOIN kitchen_line AS l ON l.company_id = $1 AND l.order_id = c.order_id
          AND l.line_id = c.id
        WHERE c.company_id = $1 AND c.order_id = o.id AND c.canceled_at IS NULL
          AND l.done_at IS NULL
      )
      )sql";
  std::vector<Ticket> tickets;
  {
    auto rows = session.Query<kSelect>(company, moment.now - kWaitsMs - kAheadMs,
                                       moment.now - kShownMs - kAheadMs,
                                       static_cast<int64_t>(moment.with_closed));
    while (rows.Next()) tickets.push_back(ReadOrder(rows));
  }
  return WithLines(session, company, std::move(tickets));
}

std::vector<Ticket> TouchedTickets(db::Session& session, db::CompanyId company, UtcMs since) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT o.id, o.version, o.order_number, o.public_id, o.status, o.service_type, o.source,
        o.table_snapshot, o.client, o.order_title, o.comment, o.scheduled_delivery_date,
        o.cancel_reason, o.canceled_at, o.created_seq, k.writes, k.rush_at, k.out_at, k.out_lines,
        t.lead_minutes,
        h.position AS call_move, h.at AS called_at, h.lines AS call_lines,
        (SELECT max(m.position) FROM order_status AS m WHERE m.company_id = $1 AND m.order_id = o.id)
          AS last_move,
        (SELECT max(m.at) FROM order_status AS m WHERE m.company_id = $1 AND m.order_id = o.id)
          AS moved_at
      FROM kitchen_order AS k
      JOIN orders AS o ON o.company_id = $1 AND o.id = k.order_id
      LEFT JOIN kitchen_settings AS t ON t.company_id = $1
      LEFT JOIN order_status AS h ON h.company_id = $1 AND h.order_id = o.id AND h.position = (
        SELECT max(r.position) FROM order_status AS r WHERE r.company_id = $1
          AND r.order_id = o.id AND r.implied = 0 AND r.status IN (2, 3)
      )
      WHERE k.company_id = $1 AND k.changed_at >= $2
      )sql";
  std::vector<Ticket> tickets;
  {
    auto rows = session.Query<kSelect>(company, since);
    while (rows.Next()) tickets.push_back(ReadOrder(rows));
  }
  return WithLines(session, company, std::move(tickets));
}

void Save(db::Tx& tx, db::CompanyId company, const Ticket& before, const Ticket& after, UtcMs now) {
  for (size_t i = 0; i < after.lines.size(); ++i) {
    const Line& line = after.lines[i];
    const Line& former = before.lines[i];
    if (line.done_at == former.done_at && line.undone_moves == former.undone_moves) continue;
    tx.Run(R"sql(
        INSERT INTO kitchen_line (company_id, order_id, line_id, done_at, done_by, undone_moves)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (company_id, order_id, line_id) DO UPDATE SET done_at = excluded.done_at,
          done_by = excluded.done_by, undone_moves = excluded.undone_moves
        )sql",
           company, after.order_id, line.id, line.done_at, line.done_by, line.undone_moves);
  }
  const auto out_lines =
      after.last_out_at ? std::optional(static_cast<int64_t>(after.out_lines)) : std::nullopt;
  tx.Run(R"sql(
      INSERT INTO kitchen_order (company_id, order_id, writes, changed_at, rush_at, out_at,
        out_lines)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      ON CONFLICT (company_id, order_id) DO UPDATE SET writes = excluded.writes,
        changed_at = excluded.changed_at, rush_at = excluded.rush_at, out_at = excluded.out_at,
        out_lines = excluded.out_lines
      )sql",
         company, after.order_id, after.writes, now, after.rush_at, after.last_out_at, out_lines);
}

std::vector<Station> Stations(db::Session& session, db::CompanyId company) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, name, prepares, position, watched_at FROM station WHERE company_id = $1
      ORDER BY position, id
      )sql";
  std::vector<Station> stations;
  auto rows = session.Query<kSelect>(company);
  while (rows.Next()) {
    stations.push_back({.id = rows.Text("id"),
                        .name = rows.Text("name"),
                        .prepares = rows.Bool("prepares"),
                        .position = rows.Int("position"),
                        .watched_at = rows.OptionalInt("watched_at")});
  }
  return stations;
}

std::vector<db::CompanyId> WatchedCompanies(db::Session& session, UtcMs since) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT DISTINCT company_id FROM station WHERE watched_at >= $1 ORDER BY company_id
      )sql";
  std::vector<db::CompanyId> companies;
  auto rows = session.Query<kSelect>(since);
  while (rows.Next()) companies.push_back(rows.Company("company_id"));
  return companies;
}

Settings FindSettings(db::Session& session, db::CompanyId company) {
  static constexpr db::Sql kThresholds = R"sql(
      SELECT service_type, warn_minutes, late_minutes FROM kitchen_threshold WHERE company_id = $1
      )sql";
  Settings settings;
  settings.lead_minutes =
      session
          .FindInt(R"sql(SELECT lead_minutes FROM kitchen_settings WHERE company_id = $1)sql",
                   company)
          .value_or(settings.lead_minutes);
  auto rows = session.Query<kThresholds>(company);
  while (rows.Next()) {
    const auto type =
        ReadEnum<orders::ServiceType>(rows.Int("service_type"), settings.thresholds.size());
    settings.thresholds[static_cast<size_t>(type)] = {.warn_minutes = rows.Int("warn_minutes"),
                                                      .late_minutes = rows.Int("late_minutes")};
  }
  return settings;
}

void Save(db::Tx& tx, db::CompanyId company, const Settings& settings) {
  tx.Run(R"sql(
      INSERT INTO kitchen_settings (company_id, lead_minutes) VALUES ($1, $2)
      ON CONFLICT (company_id) DO UPDATE SET lead_minutes = excluded.lead_minutes
      )sql",
         company, settings.lead_minutes);
  for (size_t type = 0; type < settings.thresholds.size(); ++type) {
    tx.Run(R"sql(
        INSERT INTO kitchen_threshold (company_id, service_type, warn_minutes, late_minutes)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (company_id, service_type) DO UPDATE SET warn_minutes = excluded.warn_minutes,
          late_minutes = excluded.late_minutes
        )sql",
           company, static_cast<int64_t>(type), settings.thresholds[type].warn_minutes,
           settings.thresholds[type].late_minutes);
  }
}

void DeleteAll(db::Tx& tx, db::CompanyId company) {
  tx.Run(R"sql(DELETE FROM kitchen_line WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM kitchen_order WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM kitchen_settings WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM kitchen_threshold WHERE company_id = $1)sql", company);
}

}  // namespace comanda::kitchen::store
