#include "webhooks/store.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/checksum.h"
#include "base/problem.h"
#include "base/text.h"
#include "db/clause_builder.h"
#include "webhooks/json.h"

namespace comanda::webhooks::store {
namespace {

template <typename Enum, size_t kSize>
std::optional<Enum> ReadName(const std::array<std::string_view, kSize>& names,
                             std::string_view text) {
  const auto name = std::ranges::find(names, text);
  if (name == names.end()) return std::nullopt;
  return static_cast<Enum>(name - names.begin());
}

std::string Text(const std::vector<int>& codes) {
  std::string text;
  for (const int code : codes) text += (text.empty() ? "" : ",") + std::to_string(code);
  return text;
}

std::vector<int> ParseCodes(std::string_view text) {
  std::vector<int> codes;
  while (!text.empty()) {
    const std::string_view piece = TakePiece(text, ',');
    int code = 0;
    std::from_chars(piece.data(), piece.data() + piece.size(), code);
    codes.push_back(code);
  }
  return codes;
}

std::optional<std::string_view> NameOf(std::optional<Outcome> outcome) {
  return outcome ? std::optional(Name(*outcome)) : std::nullopt;
}

// Lists as the row has them: reading may forgive what a checksum must not.
struct Lists {
  std::string_view headers, ack_codes, selection;
};

int64_t ChecksumOf(db::CompanyId company, const Subscription& one, const Lists& lists) {
  const Configuration& configuration = one.configuration;
  const Progress& progress = one.progress;
  Checksum sum;
  sum.Add(company.value).Add(one.id).Add(configuration.url).Add(configuration.merchant_id);
  sum.Add(lists.headers).Add(lists.ack_codes).Add(lists.selection);
  sum.Add(configuration.public_key_pin).Add(int64_t{configuration.is_active});
  sum.Add(one.secrets.current).Add(one.secrets.old);
  sum.Add(one.secret_rotates_until).Add(progress.settled_seq).Add(progress.sequence);
  sum.Add(progress.events_lost).Add(NameOf(progress.last_outcome)).Add(progress.last_status);
  sum.Add(progress.last_delivery_at).Add(progress.last_success_ms).Add(progress.failures_in_a_row);
  sum.Add(progress.failing_ms).Add(progress.attempts_failed).Add(Name(progress.suspended));
  sum.Add(progress.suspended_at).Add(one.revision).Add(one.created_at).Add(one.updated_at);
  return sum.Value();
}

int64_t ChecksumOf(db::CompanyId company, const Subscription& one) {
  const std::string headers = StoredHeaders(one.configuration.headers);
  const std::string ack_codes = Text(one.configuration.ack_codes);
  return ChecksumOf(company, one, {headers, ack_codes, one.selection.Text()});
}

int64_t ChecksumOf(db::CompanyId company, std::string_view webhook_id, const Delivery& one,
                   std::string_view attempts) {
  Checksum sum;
  sum.Add(company.value).Add(webhook_id).Add(one.id).Add(one.seq).Add(Name(one.kind));
  sum.Add(one.event_id).Add(one.subject_type).Add(one.subject_id).Add(one.subject_version);
  sum.Add(one.sequence).Add(Name(one.state)).Add(attempts).Add(one.failing.failures);
  sum.Add(one.failing.since_ms).Add(one.next_attempt_at).Add(one.created_at).Add(one.settled_at);
  return sum.Value();
}

// Fault kDamaged where the row is not what was written.
void RequireSound(const auto& row, std::string_view what, const std::string& id, int64_t checksum) {
  if (row.Int("checksum") == checksum) return;
  throw Fault(Fault::Kind::kDamaged, std::string(what) + " " + id + " is not what was written");
}

// What `read` returns; where it throws Fault kDamaged, nothing, and the reason is added to
// `damage`.
template <typename Read>
auto ReadIfSound(Read read, std::vector<std::string>& damage) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    damage.push_back(fault.cause);
    return std::nullopt;
  }
}

Subscription ReadSubscription(const auto& row) {
  Subscription subscription{
      .id = row.Text("id"),
      .configuration = {.url = row.Text("url"),
                        .merchant_id = row.OptionalText("merchant_id"),
                        .headers = ParseHeaders(row.View("headers")),
                        .ack_codes = ParseCodes(row.View("ack_codes")),
                        .public_key_pin = row.OptionalText("public_key_pin"),
                        .is_active = row.Bool("is_active")},
      .selection = Selection::Parse(row.View("selection")),
      .secrets = {.current = row.Text("secret"), .old = row.OptionalText("old_secret")},
      .secret_rotates_until = row.OptionalInt("secret_rotates_until"),
      .progress = {.settled_seq = row.Int("settled_seq"),
                   .sequence = row.Int("sequence"),
                   .events_lost = row.Int("events_lost"),
                   .last_outcome = {},
                   .last_status = row.OptionalInt("last_status"),
                   .last_delivery_at = row.OptionalInt("last_delivery_at"),
                   .last_success_ms = row.Int("last_success_ms"),
                   .failures_in_a_row = row.Int("failures_in_a_row"),
                   .failing_ms = row.Int("failing_ms"),
                   .attempts_failed = row.Int("attempts_failed"),
                   .suspended_at = row.OptionalInt("suspended_at")},
      .revision = row.Int("revision"),
      .created_at = row.Int("created_at"),
      .updated_at = row.Int("updated_at")};
  Progress& progress = subscription.progress;
  progress.last_outcome = ReadName<Outcome>(kOutcomeNames, row.View("last_outcome"));
  progress.suspended =
      ReadName<Suspended>(kSuspendedNames, row.View("suspended")).value_or(Suspended::kNot);
  return subscription;
}

Delivery ReadDelivery(const auto& row) {
  return {.id = row.Text("id"),
          .seq = row.Int("seq"),
          .kind = FindKind(row.View("kind")).value_or(Kind::kTest),
          .event_id = row.Text("event_id"),
          .subject_type = row.Text("subject_type"),
          .subject_id = row.Text("subject_id"),
          .subject_version = row.Int("subject_version"),
          .sequence = row.OptionalInt("sequence"),
          .state = ReadName<State>(kStateNames, row.View("state")).value_or(State::kDead),
          .attempts = ParseAttempts(row.View("attempts")),
          .failing = {.failures = row.Int("failures"), .since_ms = row.Int("failing_since_ms")},
          .next_attempt_at = row.OptionalInt("next_attempt_at"),
          .created_at = row.Int("created_at"),
          .settled_at = row.OptionalInt("settled_at")};
}

Subscription ReadSoundSubscription(const auto& row) {
  Subscription subscription = ReadSubscription(row);
  RequireSound(row, "webhook", subscription.id,
               ChecksumOf(row.Company("company_id"), subscription,
                          {row.View("headers"), row.View("ack_codes"), row.View("selection")}));
  return subscription;
}

Delivery ReadSoundDelivery(const auto& row) {
  Delivery delivery = ReadDelivery(row);
  RequireSound(row, "webhook delivery", delivery.id,
               ChecksumOf(row.Company("company_id"), row.View("webhook_id"), delivery,
                          row.View("attempts")));
  return delivery;
}

constexpr db::Sql kSubscriptions = R"sql(
    SELECT w.id, w.url, w.merchant_id, w.headers, w.ack_codes, w.public_key_pin, w.is_active,
      w.selection, w.secret, w.old_secret, w.secret_rotates_until, w.settled_seq, w.sequence,
      w.events_lost, w.last_outcome, w.last_status, w.last_delivery_at, w.last_success_ms,
      w.failures_in_a_row, w.failing_ms, w.attempts_failed, w.suspended, w.suspended_at, w.revision, w.created_at,
      w.updated_at, w.company_id, w.checksum
    FROM webhook w WHERE w.company_id = $1
    )sql";

constexpr db::Sql kDeliveries = R"sql(
    SELECT d.id, d.seq, d.kind, d.event_id, d.subject_type, d.subject_id, d.subject_version,
      d.sequence, d.state, d.attempts, d.failures, d.failing_since_ms, d.next_attempt_at, d.created_at, d.settled_at,
      d.company_id, d.webhook_id, d.checksum
    FROM webhook_delivery d WHERE d.company_id = $1 AND d.webhook_id = $2
    )sql";

}  // namespace

std::vector<db::CompanyId> Companies(db::Session& session) {
  static constexpr db::Sql kSelect =
      R"sql(SELECT DISTINCT company_id FROM webhook ORDER BY company_id)sql";
  std::vector<db::CompanyId> companies;
  auto rows = session.Query<kSelect>();
  while (rows.Next()) companies.push_back(rows.Company("company_id"));
  return companies;
}

db::ClauseBuilder SubscriptionsOf(db::CompanyId company) { return {kSubscriptions, {company}}; }

std::vector<Subscription> SelectPage(db::Session& session, const db::ClauseBuilder& sql,
                                     std::vector<std::string>& damage) {
  std::vector<Subscription> page;
  auto rows = session.Query<kSubscriptions>(sql);
  while (rows.Next()) {
    auto read = ReadIfSound([&] { return ReadSoundSubscription(rows); }, damage);
    if (read) page.push_back(*std::move(read));
  }
  return page;
}

std::vector<Subscription> All(db::Session& session, db::CompanyId company,
                              std::vector<std::string>& damage) {
  return SelectPage(session, SubscriptionsOf(company), damage);
}

std::optional<Subscription> Find(db::Session& session, db::CompanyId company, std::string_view id) {
  db::ClauseBuilder builder(kSubscriptions, {company});
  builder.And("w.id = {}", id);
  auto rows = session.Query<kSubscriptions>(builder);
  if (!rows.Next()) return std::nullopt;
  return ReadSoundSubscription(rows);
}

std::optional<Subscription> FindAsItIs(db::Session& session, db::CompanyId company,
                                       std::string_view id) {
  db::ClauseBuilder builder(kSubscriptions, {company});
  builder.And("w.id = {}", id);
  auto rows = session.Query<kSubscriptions>(builder);
  if (!rows.Next()) return std::nullopt;
  return ReadSubscription(rows);
}

int64_t Count(db::Session& session, db::CompanyId company) {
  return session.GetInt(R"sql(SELECT count(*) FROM webhook WHERE company_id = $1)sql", company);
}

int64_t LastCreated(db::Session& session, db::CompanyId company) {
  return session.GetInt(R"sql(
      SELECT coalesce(max(created_seq), 0) FROM webhook WHERE company_id = $1
      )sql",
                        company);
}

void Insert(db::Tx& tx, db::CompanyId company, const Subscription& one) {
  const Configuration& configuration = one.configuration;
  tx.Run(
      R"sql(
      INSERT INTO webhook (company_id, id, url, merchant_id, headers, ack_codes, public_key_pin,
        is_active, selection, secret, settled_seq, sequence, created_at, updated_at, revision,
        checksum, created_seq)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, $12, $13, $14, $15,
        (SELECT coalesce(max(created_seq), 0) + 1 FROM webhook WHERE company_id = $1))
      )sql",
      company, one.id, configuration.url, configuration.merchant_id,
      StoredHeaders(configuration.headers), Text(configuration.ack_codes),
      configuration.public_key_pin, configuration.is_active, one.selection.Text(),
      one.secrets.current, one.progress.settled_seq, one.created_at, one.updated_at, one.revision,
      ChecksumOf(company, one));
}

void UpdateSettings(db::Tx& tx, db::CompanyId company, const Subscription& one) {
  const Configuration& configuration = one.configuration;
  tx.RunOne(
      R"sql(
      UPDATE webhook SET url = $3, merchant_id = $4, headers = $5, ack_codes = $6,
        public_key_pin = $7, is_active = $8, selection = $9, secret = $10, old_secret = $11,
        secret_rotates_until = $12, updated_at = $13, revision = $14,
        checksum = $15
      WHERE company_id = $1 AND id = $2
      )sql",
      company, one.id, configuration.url, configuration.merchant_id,
      StoredHeaders(configuration.headers), Text(configuration.ack_codes),
      configuration.public_key_pin, configuration.is_active, one.selection.Text(),
      one.secrets.current, one.secrets.old, one.secret_rotates_until, one.updated_at, one.revision,
      ChecksumOf(company, one));
}

void UpdateProgress(db::Tx& tx, db::CompanyId company, const Subscription& one) {
  const Progress& progress = one.progress;
  tx.RunOne(
      R"sql(
      UPDATE webhook SET settled_seq = $3, sequence = $4, events_lost = $5, last_outcome = $6,
        last_status = $7, last_delivery_at = $8, failures_in_a_row = $9, failing_ms = $10,
        attempts_failed = $11, suspended = $12, suspended_at = $13, selection = $14,
        last_success_ms = $15, checksum = $16
      WHERE company_id = $1 AND id = $2 AND revision = $17
      )sql",
      company, one.id, progress.settled_seq, progress.sequence, progress.events_lost,
      NameOf(progress.last_outcome), progress.last_status, progress.last_delivery_at,
      progress.failures_in_a_row, progress.failing_ms, progress.attempts_failed,
      Name(progress.suspended), progress.suspended_at, one.selection.Text(),
      progress.last_success_ms, ChecksumOf(company, one), one.revision);
}

void Delete(db::Tx& tx, db::CompanyId company, std::string_view id) {
  tx.Run(R"sql(DELETE FROM webhook_delivery WHERE company_id = $1 AND webhook_id = $2)sql", company,
         id);
  tx.Run(R"sql(DELETE FROM webhook WHERE company_id = $1 AND id = $2)sql", company, id);
}

void DeleteAll(db::Tx& tx, db::CompanyId company) {
  tx.Run(R"sql(DELETE FROM webhook_delivery WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM webhook WHERE company_id = $1)sql", company);
}

void Put(db::Tx& tx, db::CompanyId company, std::string_view webhook_id, const Delivery& one) {
  const std::string attempts = StoredAttempts(one.attempts);
  tx.Run(
      R"sql(
      INSERT INTO webhook_delivery (company_id, webhook_id, id, number, seq, kind, event_id,
        subject_type, subject_id, sequence, state, attempts, failures, failing_since_ms, next_attempt_at,
        created_at, settled_at, outcome, subject_version, checksum)
      VALUES ($1, $2, $3,
        (SELECT coalesce(max(number), 0) + 1 FROM webhook_delivery
         WHERE company_id = $1 AND webhook_id = $2),
        $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
      ON CONFLICT (company_id, webhook_id, seq, id) DO UPDATE SET state = excluded.state,
        attempts = excluded.attempts, failures = excluded.failures, failing_since_ms = excluded.failing_since_ms,
        next_attempt_at = excluded.next_attempt_at, settled_at = excluded.settled_at,
        outcome = excluded.outcome, checksum = excluded.checksum
      )sql",
      company, webhook_id, one.id, one.seq, Name(one.kind), one.event_id, one.subject_type,
      one.subject_id, one.sequence, Name(one.state), attempts, one.failing.failures,
      one.failing.since_ms, one.next_attempt_at, one.created_at, one.settled_at,
      one.attempts.empty() ? std::nullopt : NameOf(one.attempts.back().outcome),
      one.subject_version, ChecksumOf(company, webhook_id, one, attempts));
}

namespace {

std::optional<Delivery> FirstDelivery(db::Session& session, const db::ClauseBuilder& sql) {
  auto rows = session.Query<kDeliveries>(sql);
  if (!rows.Next()) return std::nullopt;
  return ReadSoundDelivery(rows);
}

}  // namespace

std::optional<Delivery> FindDelivery(db::Session& session, db::CompanyId company,
                                     std::string_view webhook_id, std::string_view id) {
  db::ClauseBuilder builder(kDeliveries, {company, webhook_id});
  return FirstDelivery(session, builder.And("d.id = {}", id));
}

std::optional<Delivery> FindDelivery(db::Session& session, db::CompanyId company,
                                     std::string_view webhook_id, int64_t seq,
                                     std::string_view id) {
  db::ClauseBuilder builder(kDeliveries, {company, webhook_id});
  return FirstDelivery(session, builder.And("d.seq = {}", seq).And("d.id = {}", id));
}

db::ClauseBuilder DeliveriesOf(db::CompanyId company, std::string_view webhook_id) {
  return {kDeliveries, {company, webhook_id}};
}

void EachDelivery(db::Session& session, const db::ClauseBuilder& sql,
                  std::vector<std::string>& damage,
                  const std::function<void(const Delivery&)>& use) {
  auto rows = session.Query<kDeliveries>(sql);
  while (rows.Next()) {
    const auto read = ReadIfSound([&] { return ReadSoundDelivery(rows); }, damage);
    if (read) use(*read);
  }
}

namespace {

std::vector<Delivery> ByEvent(db::Session& session, db::ClauseBuilder& deliveries,
                              std::vector<std::string>& damage) {
  std::vector<Delivery> found;
  deliveries.OrderBy("d.seq, d.number");
  EachDelivery(session, deliveries, damage, [&](const Delivery& one) { found.push_back(one); });
  return found;
}

}  // namespace

std::vector<Delivery> Unsettled(db::Session& session, db::CompanyId company,
                                std::string_view webhook_id, std::vector<std::string>& damage) {
  db::ClauseBuilder builder(kDeliveries, {company, webhook_id});
  return ByEvent(session, builder.And("d.state IN ('late', 'waiting')"), damage);
}

std::vector<Delivery> Unsettled(db::Session& session, db::CompanyId company,
                                std::string_view webhook_id) {
  std::vector<std::string> damage;
  return Unsettled(session, company, webhook_id, damage);
}

std::vector<Delivery> Dead(db::Session& session, db::CompanyId company,
                           std::string_view webhook_id) {
  std::vector<std::string> damage;
  db::ClauseBuilder builder(kDeliveries, {company, webhook_id});
  return ByEvent(session, builder.And("d.state = 'dead'"), damage);
}

void CheckDeliveries(db::Session& session, std::vector<std::string>& damage) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, seq, kind, event_id, subject_type, subject_id, subject_version,
        sequence, state, attempts, failures, failing_since_ms, next_attempt_at,
        created_at, settled_at, company_id, webhook_id, checksum
      FROM webhook_delivery
      )sql";
  auto rows = session.Query<kSelect>();
  while (rows.Next()) ReadIfSound([&] { return ReadSoundDelivery(rows); }, damage);
}

std::vector<Rows> CountRows(db::Session& session, db::CompanyId company,
                            std::span<const Subscription> subscriptions, int64_t last) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT w.id,
        (SELECT count(*) FROM webhook_delivery AS d
         WHERE d.company_id = w.company_id AND d.webhook_id = w.id
           AND d.state IN ('late', 'waiting')) AS unsettled,
        (SELECT d.created_at FROM webhook_delivery AS d
         WHERE d.company_id = w.company_id AND d.webhook_id = w.id
           AND d.state IN ('late', 'waiting') ORDER BY d.seq LIMIT 1) AS oldest_at,
        (SELECT count(*) FROM webhook_delivery AS d
         WHERE d.company_id = w.company_id AND d.webhook_id = w.id
           AND d.seq > w.settled_seq AND d.seq <= $2) AS ahead
      FROM webhook AS w WHERE w.company_id = $1
      )sql";
  std::vector<db::Bound> ids;
  for (const Subscription& one : subscriptions) ids.emplace_back(one.id);
  std::vector<Rows> counts(subscriptions.size());
  db::ClauseBuilder sql(kSelect, {company, last});
  auto rows = session.Query<kSelect>(sql.And("w.id IN ({})", ids));
  while (rows.Next()) {
    const auto one = std::ranges::find(subscriptions, rows.View("id"), &Subscription::id);
    if (one == subscriptions.end()) continue;
    counts[static_cast<size_t>(one - subscriptions.begin())] = {
        .unsettled = rows.Int("unsettled"),
        .oldest_at = rows.OptionalInt("oldest_at"),
        .ahead = rows.Int("ahead")};
  }
  return counts;
}

int64_t LastNumber(db::Session& session, db::CompanyId company, std::string_view webhook_id) {
  return session.GetInt(R"sql(
      SELECT coalesce(max(number), 0) FROM webhook_delivery
      WHERE company_id = $1 AND webhook_id = $2
      )sql",
                        company, webhook_id);
}

void Trim(db::Tx& tx, db::CompanyId company, std::string_view webhook_id, int64_t kept,
          UtcMs settled_before) {
  tx.Run(
      R"sql(
      DELETE FROM webhook_delivery
      WHERE company_id = $1 AND webhook_id = $2 AND state IN ('delivered', 'dead')
        AND (settled_at < $4 OR number <= (
          SELECT max(number) - $3 FROM webhook_delivery WHERE company_id = $1 AND webhook_id = $2))
      )sql",
      company, webhook_id, kept, settled_before);
}

}  // namespace comanda::webhooks::store
