#include "delivery/orders/orders_store.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "base/check.h"
#include "base/concat.h"
#include "base/problem.h"

namespace comanda::delivery::store {
namespace {

// The value of that name; Fault kDamaged where the file holds another text.
template <typename Enum, size_t kSize>
Enum Named(const std::array<std::string_view, kSize>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw Fault(Fault::Kind::kDamaged, "a row of a delivery app holds an unknown word");
  }
  return static_cast<Enum>(found - names.begin());
}

CommandKind CommandKindOf(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(kCommandNames.size())) {
    throw Fault(Fault::Kind::kDamaged, "a command to a delivery app has an unknown kind");
  }
  return static_cast<CommandKind>(number);
}

News NewsOf(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(kNewsNames.size())) {
    throw Fault(Fault::Kind::kDamaged, "an order of a delivery app has unknown news");
  }
  return static_cast<News>(number);
}

int64_t Number(CommandKind kind) { return static_cast<int64_t>(kind); }

}  // namespace

// Settings

std::optional<AppRow> FindApp(db::Session& session, const AccountKey& key) {
  static constexpr db::Sql kApp = R"sql(
      SELECT mode, accept, presence, position FROM delivery_app WHERE company_id = $1 AND app = $2
      )sql";
  const auto row = session.One<kApp>(key.company, key.app);
  if (!row) return std::nullopt;
  return AppRow{.mode = Named<Mode>(kModeNames, row->View("mode")),
                .accept = Named<Accept>(kAcceptNames, row->View("accept")),
                .presence = Named<Presence>(kPresenceNames, row->View("presence")),
                .position = row->Int("position")};
}

void PutApp(db::Tx& tx, const AccountKey& key, const AppRow& row) {
  tx.Run(R"sql(
      INSERT INTO delivery_app (company_id, app, mode, accept, presence, position)
      VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (company_id, app)
      DO UPDATE SET mode = excluded.mode, accept = excluded.accept, presence = excluded.presence,
                    position = excluded.position
      )sql",
         key.company, key.app, Name(row.mode), Name(row.accept), Name(row.presence), row.position);
}

void SetPosition(db::Tx& tx, const AccountKey& key, int64_t position) {
  tx.Run(R"sql(UPDATE delivery_app SET position = $3 WHERE company_id = $1 AND app = $2)sql",
         key.company, key.app, position);
}

std::vector<AccountKey> FindActive(db::Session& session) {
  static constexpr db::Sql kActive = R"sql(
      SELECT company_id, app FROM delivery_app WHERE mode <> 'off' ORDER BY company_id, app
      )sql";
  std::vector<AccountKey> keys;
  auto rows = session.Query<kActive>();
  while (rows.Next()) keys.push_back({rows.Company("company_id"), rows.Text("app")});
  return keys;
}

// Answers

int64_t AddAnswer(db::Tx& tx, const AccountKey& key, UtcMs at, std::string_view body) {
  static constexpr db::Sql kNext = R"sql(
      SELECT coalesce(max(number), 0) + 1 AS number FROM delivery_answer
      WHERE company_id = $1 AND app = $2
      )sql";
  auto rows = tx.Query<kNext>(key.company, key.app);
  CHECK(rows.Next(), "an aggregate has one row");
  const int64_t number = rows.Int("number");
  tx.Run(R"sql(
      INSERT INTO delivery_answer (company_id, app, number, received_at, body)
      VALUES ($1, $2, $3, $4, $5)
      )sql",
         key.company, key.app, number, at, body);
  return number;
}

std::vector<AnswerRow> FindAnswers(db::Session& session, const AccountKey& key) {
  static constexpr db::Sql kAnswers = R"sql(
      SELECT number, body FROM delivery_answer
      WHERE company_id = $1 AND app = $2 AND problem = '' ORDER BY number LIMIT 16
      )sql";
  std::vector<AnswerRow> answers;
  auto rows = session.Query<kAnswers>(key.company, key.app);
  while (rows.Next()) {
    answers.push_back({.number = rows.Int("number"), .body = rows.Text("body")});
  }
  return answers;
}

void RemoveAnswer(db::Tx& tx, const AccountKey& key, int64_t number) {
  tx.Run(R"sql(DELETE FROM delivery_answer WHERE company_id = $1 AND app = $2 AND number = $3)sql",
         key.company, key.app, number);
}

void ParkAnswer(db::Tx& tx, const AccountKey& key, int64_t number, std::string_view problem) {
  tx.Run(R"sql(
      UPDATE delivery_answer SET problem = $4 WHERE company_id = $1 AND app = $2 AND number = $3
      )sql",
         key.company, key.app, number, problem);
}

bool IsParked(db::Session& session, const AccountKey& key, std::string_view body) {
  return session
      .FindText(R"sql(
      SELECT app FROM delivery_answer
      WHERE company_id = $1 AND app = $2 AND problem <> '' AND body = $3 LIMIT 1
      )sql",
                key.company, key.app, body)
      .has_value();
}

void RemoveUnreadable(db::Tx& tx, const AccountKey& key, int64_t before) {
  tx.Run(R"sql(
      DELETE FROM delivery_answer
      WHERE company_id = $1 AND app = $2 AND number < $3 AND problem <> ''
      )sql",
         key.company, key.app, before);
}

// Events

bool AddEvent(db::Tx& tx, const AccountKey& key, const AppEvent& event, UtcMs received_at) {
  const std::string_view state = event.news == News::kOther ? "applied" : "waiting";
  return tx.RunCounted(R"sql(
             INSERT INTO delivery_event (company_id, app, event_id, external_id, news, at, received_at, raw, words,
                                         state)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             ON CONFLICT (company_id, app, event_id) DO NOTHING
             )sql",
                       key.company, key.app, event.id, event.external_id, Name(event.news),
                       event.at, received_at, event.raw, event.words, state) == 1;
}

std::vector<EventRow> FindWaiting(db::Session& session, const AccountKey& key, int64_t limit) {
  static constexpr db::Sql kWaiting = R"sql(
      SELECT event_id, external_id, news, at, words, attempts FROM delivery_event
      WHERE company_id = $1 AND app = $2 AND state = 'waiting' ORDER BY at, event_id LIMIT $3
      )sql";
  std::vector<EventRow> events;
  auto rows = session.Query<kWaiting>(key.company, key.app, limit);
  while (rows.Next()) {
    events.push_back({.event = {.id = rows.Text("event_id"),
                                .external_id = rows.Text("external_id"),
                                .news = Named<News>(kNewsNames, rows.View("news")),
                                .at = rows.Int("at"),
                                .words = rows.Text("words")},
                      .attempts = rows.Int("attempts")});
  }
  return events;
}

void SetApplied(db::Tx& tx, const AccountKey& key, std::string_view event_id) {
  tx.Run(R"sql(
      UPDATE delivery_event SET state = 'applied', problem = ''
      WHERE company_id = $1 AND app = $2 AND event_id = $3
      )sql",
         key.company, key.app, event_id);
}

void CountAttempt(db::Tx& tx, const AccountKey& key, std::string_view event_id) {
  tx.Run(R"sql(
      UPDATE delivery_event SET attempts = attempts + 1
      WHERE company_id = $1 AND app = $2 AND event_id = $3
      )sql",
         key.company, key.app, event_id);
}

void ParkEvent(db::Tx& tx, const AccountKey& key, std::string_view event_id,
               std::string_view problem) {
  tx.Run(R"sql(
      UPDATE delivery_event SET state = 'parked', problem = $4
      WHERE company_id = $1 AND app = $2 AND event_id = $3
      )sql",
         key.company, key.app, event_id, problem);
}

// Orders

std::optional<OrderRow> FindOrder(db::Session& session, const AccountKey& key,
                                  std::string_view external_id) {
  static constexpr db::Sql kOrder = R"sql(
      SELECT external_id, order_id, received_at, is_accepted, accept_by, prepare_at, told, is_delivered_here,
             pending, details
      FROM delivery_order WHERE company_id = $1 AND app = $2 AND external_id = $3
      )sql";
  const auto row = session.One<kOrder>(key.company, key.app, external_id);
  if (!row) return std::nullopt;
  return OrderRow{.external_id = row->Text("external_id"),
                  .order_id = row->Text("order_id"),
                  .received_at = row->Int("received_at"),
                  .is_accepted = row->Bool("is_accepted"),
                  .accept_by = row->OptionalInt("accept_by"),
                  .prepare_at = row->OptionalInt("prepare_at"),
                  .told = NewsOf(row->Int("told")),
                  .is_delivered_here = row->Bool("is_delivered_here"),
                  .pending = row->Int("pending"),
                  .details = row->Text("details")};
}

std::optional<std::string> FindExternalId(db::Session& session, const AccountKey& key,
                                          std::string_view order_id) {
  return session.FindText(R"sql(
      SELECT external_id FROM delivery_order
      WHERE company_id = $1 AND order_id = $3 AND order_id <> '' AND app = $2
      )sql",
                          key.company, key.app, order_id);
}

void PutOrder(db::Tx& tx, const AccountKey& key, const OrderRow& row) {
  tx.Run(R"sql(
      INSERT INTO delivery_order (company_id, app, external_id, order_id, received_at, is_accepted, accept_by,
                                  prepare_at, told, is_delivered_here, pending, details)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      ON CONFLICT (company_id, app, external_id)
      DO UPDATE SET order_id = excluded.order_id, is_accepted = excluded.is_accepted,
                    accept_by = excluded.accept_by, prepare_at = excluded.prepare_at,
                    told = excluded.told, is_delivered_here = excluded.is_delivered_here,
                    pending = excluded.pending, details = excluded.details
      )sql",
         key.company, key.app, row.external_id, row.order_id, row.received_at,
         int64_t{row.is_accepted}, row.accept_by, row.prepare_at, static_cast<int64_t>(row.told),
         int64_t{row.is_delivered_here}, row.pending, row.details);
}

std::vector<OrderRow> FindUnaccepted(db::Session& session, const AccountKey& key) {
  static constexpr db::Sql kUnaccepted = R"sql(
      SELECT external_id, order_id, received_at, accept_by,
             EXISTS (SELECT 1 FROM delivery_command AS c
                     WHERE c.company_id = o.company_id AND c.app = o.app AND c.external_id = o.external_id
                       AND c.step = $3) AS is_being_confirmed
      FROM delivery_order AS o
      WHERE company_id = $1 AND app = $2 AND is_accepted = 0 ORDER BY received_at DESC LIMIT 500
      )sql";
  std::vector<OrderRow> found;
  auto rows = session.Query<kUnaccepted>(key.company, key.app, Number(CommandKind::kConfirm));
  while (rows.Next()) {
    if (rows.View("order_id").empty()) continue;
    found.push_back({.external_id = rows.Text("external_id"),
                     .order_id = rows.Text("order_id"),
                     .received_at = rows.Int("received_at"),
                     .accept_by = rows.OptionalInt("accept_by"),
                     .is_being_confirmed = rows.Bool("is_being_confirmed")});
  }
  return found;
}

void LeaveUnaccepted(db::Tx& tx, const AccountKey& key) {
  tx.Run(R"sql(
      UPDATE delivery_order SET is_accepted = 1 WHERE (company_id, app, external_id) IN (
        SELECT company_id, app, external_id FROM delivery_order
        WHERE company_id = $1 AND app = $2 AND is_accepted = 0)
      )sql",
         key.company, key.app);
}

// Commands

void DropCommands(db::Tx& tx, const AccountKey& key) {
  tx.Run(R"sql(
      DELETE FROM delivery_command WHERE (company_id, app, external_id, step) IN (
        SELECT company_id, app, external_id, step FROM delivery_command
        WHERE company_id = $1 AND app = $2 AND state = 'waiting')
      )sql",
         key.company, key.app);
}

void AddCommand(db::Tx& tx, const AccountKey& key, std::string_view external_id, CommandKind kind,
                UtcMs now) {
  tx.Run(R"sql(
      INSERT INTO delivery_command (company_id, app, external_id, step, state, made_at)
      VALUES ($1, $2, $3, $4, 'waiting', $5)
      ON CONFLICT (company_id, app, external_id, step) DO NOTHING
      )sql",
         key.company, key.app, external_id, Number(kind), now);
}

std::vector<CommandRow> FindCommands(db::Session& session, const AccountKey& key, int64_t limit) {
  static constexpr db::Sql kCommands = R"sql(
      SELECT external_id, step, made_at, attempts FROM delivery_command
      WHERE company_id = $1 AND app = $2 AND state = 'waiting'
      ORDER BY made_at, external_id, step LIMIT $3
      )sql";
  std::vector<CommandRow> commands;
  auto rows = session.Query<kCommands>(key.company, key.app, limit);
  while (rows.Next()) {
    commands.push_back({.external_id = rows.Text("external_id"),
                        .kind = CommandKindOf(rows.Int("step")),
                        .made_at = rows.Int("made_at"),
                        .attempts = rows.Int("attempts")});
  }
  return commands;
}

void SetDone(db::Tx& tx, const AccountKey& key, std::string_view external_id, CommandKind kind) {
  tx.Run(R"sql(
      UPDATE delivery_command SET state = 'done', problem = ''
      WHERE company_id = $1 AND app = $2 AND external_id = $3 AND step = $4
      )sql",
         key.company, key.app, external_id, Number(kind));
}

void CountAttempt(db::Tx& tx, const AccountKey& key, std::string_view external_id,
                  CommandKind kind) {
  tx.Run(R"sql(
      UPDATE delivery_command SET attempts = attempts + 1
      WHERE company_id = $1 AND app = $2 AND external_id = $3 AND step = $4
      )sql",
         key.company, key.app, external_id, Number(kind));
}

void ParkCommand(db::Tx& tx, const AccountKey& key, std::string_view external_id, CommandKind kind,
                 std::string_view problem) {
  tx.Run(R"sql(
      UPDATE delivery_command SET state = 'parked', problem = $5
      WHERE company_id = $1 AND app = $2 AND external_id = $3 AND step = $4
      )sql",
         key.company, key.app, external_id, Number(kind), problem);
}

// Parked

std::vector<ParkedRow> FindParked(db::Session& session, const AccountKey& key) {
  static constexpr db::Sql kEvents = R"sql(
      SELECT event_id, external_id, problem FROM delivery_event
      WHERE company_id = $1 AND app = $2 AND state = 'parked' ORDER BY event_id LIMIT 500
      )sql";
  static constexpr db::Sql kCommands = R"sql(
      SELECT external_id, step, problem FROM delivery_command
      WHERE company_id = $1 AND app = $2 AND state = 'parked' ORDER BY external_id, step LIMIT 500
      )sql";
  static constexpr db::Sql kAnswers = R"sql(
      SELECT number, problem FROM delivery_answer
      WHERE company_id = $1 AND app = $2 AND problem <> '' ORDER BY number LIMIT 500
      )sql";
  std::vector<ParkedRow> parked;
  auto events = session.Query<kEvents>(key.company, key.app);
  while (events.Next()) {
    parked.push_back(
        {events.Text("event_id"), "event", events.Text("external_id"), events.Text("problem")});
  }
  auto commands = session.Query<kCommands>(key.company, key.app);
  while (commands.Next()) {
    const std::string external_id = commands.Text("external_id");
    parked.push_back({Concat({external_id, "/", Name(CommandKindOf(commands.Int("step")))}),
                      "command", external_id, commands.Text("problem")});
  }
  auto answers = session.Query<kAnswers>(key.company, key.app);
  while (answers.Next()) {
    parked.push_back(
        {std::to_string(answers.Int("number")), "answer", "", answers.Text("problem")});
  }
  return parked;
}

int64_t CountParked(db::Session& session, const AccountKey& key) {
  return session.GetInt(R"sql(
      SELECT (SELECT count(*) FROM delivery_event WHERE company_id = $1 AND app = $2 AND state = 'parked')
           + (SELECT count(*) FROM delivery_command WHERE company_id = $1 AND app = $2 AND state = 'parked')
           + (SELECT count(*) FROM delivery_answer WHERE company_id = $1 AND app = $2 AND problem <> '')
      )sql",
                        key.company, key.app);
}

int64_t Retry(db::Tx& tx, const AccountKey& key, std::string_view id) {
  const bool is_all = id == "all";
  int64_t count = tx.RunCounted(R"sql(
      UPDATE delivery_event SET state = 'waiting', attempts = 0, problem = ''
      WHERE (company_id, app, event_id) IN (
        SELECT company_id, app, event_id FROM delivery_event
        WHERE company_id = $1 AND app = $2 AND state = 'parked' AND ($3 OR event_id = $4))
      )sql",
                                key.company, key.app, int64_t{is_all}, id);
  const size_t slash = id.rfind('/');
  const std::string_view order = id.substr(0, slash);
  const auto kind = slash == id.npos ? kCommandNames.end()
                                     : std::ranges::find(kCommandNames, id.substr(slash + 1));
  count += tx.RunCounted(R"sql(
      UPDATE delivery_command SET state = 'waiting', attempts = 0, problem = ''
      WHERE (company_id, app, external_id, step) IN (
        SELECT company_id, app, external_id, step FROM delivery_command
        WHERE company_id = $1 AND app = $2 AND state = 'parked'
          AND ($3 OR (external_id = $4 AND step = $5)))
      )sql",
                         key.company, key.app, int64_t{is_all}, order,
                         static_cast<int64_t>(kind - kCommandNames.begin()));
  int64_t number = 0;
  std::from_chars(id.data(), id.data() + id.size(), number);
  count += tx.RunCounted(R"sql(
      UPDATE delivery_answer SET problem = ''
      WHERE company_id = $1 AND app = $2 AND problem <> '' AND ($3 OR number = $4)
      )sql",
                         key.company, key.app, int64_t{is_all}, number);
  return count;
}

void Forget(db::Tx& tx, const AccountKey& key, UtcMs said_before, UtcMs orders_before) {
  tx.Run(R"sql(
      DELETE FROM delivery_event
      WHERE company_id = $1 AND app = $2 AND received_at < $3 AND state = 'applied'
      )sql",
         key.company, key.app, said_before);
  tx.Run(R"sql(
      DELETE FROM delivery_answer WHERE company_id = $1 AND app = $2 AND received_at < $3
      )sql",
         key.company, key.app, said_before);
  tx.Run(R"sql(
      DELETE FROM delivery_command
      WHERE company_id = $1 AND app = $2 AND made_at < $3 AND state = 'done'
      )sql",
         key.company, key.app, said_before);
  tx.Run(R"sql(
      UPDATE delivery_order SET details = ''
      WHERE company_id = $1 AND app = $2 AND received_at < $3 AND details <> ''
      )sql",
         key.company, key.app, said_before);
  tx.Run(R"sql(
      DELETE FROM delivery_order
      WHERE company_id = $1 AND app = $2 AND received_at < $3 AND COALESCE(prepare_at, 0) < $3
      )sql",
         key.company, key.app, orders_before);
}

}  // namespace comanda::delivery::store
