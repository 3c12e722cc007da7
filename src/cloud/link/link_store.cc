// All SQL of the link (cloud/link/link.h).

#include "cloud/link/link.h"

#include <charconv>

#include "aliases/aliases.h"
#include "base/problem.h"
#include "json/reader.h"
#include "json/writer.h"

namespace comanda::cloud {
namespace {

std::string ToJson(const Features& features) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("events").Boolean(features.has_events);
  out.Key("status_list").Boolean(features.takes_status_list);
  out.Key("end_date").Boolean(features.takes_end_date);
  out.Key("tables").Boolean(features.has_tables);
  out.Key("dates").Boolean(features.takes_dates);
  out.Key("makers").BeginArray();
  for (const std::string& maker : features.makers) out.Text(maker);
  out.EndArray();
  out.Key("per_page").Integer(features.per_page);
  out.Key("at").Integer(features.found_at);
  out.EndObject();
  return text;
}

Makers TextsIn(json::Value object, std::string_view name) {
  Makers texts;
  const std::optional<json::Value> value = object.Find(name);
  if (!value || value->kind() != json::Kind::kArray) return texts;
  for (const json::Value text : value->items()) {
    if (text.kind() == json::Kind::kText) texts.emplace(text.text());
  }
  return texts;
}

bool IsTrue(json::Value object, std::string_view name) {
  const std::optional<json::Value> value = object.Find(name);
  return value && value->kind() == json::Kind::kBoolean && value->boolean();
}

int64_t IntegerIn(json::Value object, std::string_view name, int64_t otherwise = 0) {
  const std::optional<json::Value> value = object.Find(name);
  if (!value || value->kind() != json::Kind::kNumber) return otherwise;
  const std::string_view text = value->number_text();
  int64_t number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

json::Value ObjectOf(const json::Document& document) {
  const json::Value root = document.root();
  if (root.kind() != json::Kind::kObject) {
    throw Fault(Fault::Kind::kDamaged, "the link with the cloud is damaged");
  }
  return root;
}

Features FeaturesOf(std::string_view json) {
  const json::Document document = json::Document::ParseStored(json);
  const json::Value object = ObjectOf(document);
  return {.has_events = IsTrue(object, "events"),
          .takes_status_list = IsTrue(object, "status_list"),
          .takes_end_date = IsTrue(object, "end_date"),
          .has_tables = IsTrue(object, "tables"),
          .takes_dates = IsTrue(object, "dates"),
          .makers = TextsIn(object, "makers"),
          .per_page = IntegerIn(object, "per_page", Features{}.per_page),
          .found_at = IntegerIn(object, "at")};
}

std::string ToJson(const Progress& progress) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  for (const auto& [kind, visit] : progress) {
    out.KeyOf(kind).BeginObject();
    out.Key("at").Integer(visit.at);
    out.Key("etags").BeginObject();
    for (const auto& [path, etag] : visit.etags) out.KeyOf(path).Text(etag);
    out.EndObject();
    if (!visit.trouble.empty()) {
      out.Key("trouble").Text(visit.trouble);
      out.Key("failed_since").Integer(visit.failed_since);
      out.Key("failed_at").Integer(visit.failed_at);
      out.Key("failures").Integer(visit.failures);
    }
    out.EndObject();
  }
  out.EndObject();
  return text;
}

// A visit that cannot be read never took place: the records are read again.
Visit VisitOf(json::Value object) {
  Visit visit;
  if (object.kind() != json::Kind::kObject) return visit;
  visit.at = IntegerIn(object, "at");
  const auto trouble = object.Find("trouble");
  if (trouble && trouble->kind() == json::Kind::kText) {
    visit.trouble = trouble->text();
    visit.failed_since = IntegerIn(object, "failed_since");
    visit.failed_at = IntegerIn(object, "failed_at");
    visit.failures = IntegerIn(object, "failures");
  }
  const auto etags = object.Find("etags");
  if (!etags || etags->kind() != json::Kind::kObject) return visit;
  for (const auto& [path, etag] : etags->members()) {
    if (etag.kind() == json::Kind::kText) visit.etags.emplace(path, etag.text());
  }
  return visit;
}

Progress ProgressOf(std::string_view json) {
  const json::Document document = json::Document::ParseStored(json);
  Progress progress;
  for (const auto& [kind, visit] : ObjectOf(document).members()) {
    progress.emplace(kind, VisitOf(visit));
  }
  return progress;
}

constexpr db::Sql kLink = R"sql(
    SELECT company_id, url, ca_file, cloud_company_id, linked_at, since, paused_at, planned_seq,
           scanned_id, lost_from, lost_until, cursor, features, progress
    FROM cloud_link WHERE company_id = $1
    )sql";

}  // namespace

std::optional<Link> FindLink(db::Session& session, db::CompanyId company) {
  const auto row = session.One<kLink>(company);
  if (!row) return std::nullopt;
  return Link{.url = row->Text("url"),
              .ca_file = row->Text("ca_file"),
              .cloud_company_id = row->Text("cloud_company_id"),
              .linked_at = row->Int("linked_at"),
              .since = row->OptionalInt("since"),
              .paused_at = row->OptionalInt("paused_at"),
              .planned_seq = row->Int("planned_seq"),
              .scanned_id = row->OptionalText("scanned_id"),
              .lost_from = row->OptionalInt("lost_from"),
              .lost_until = row->OptionalInt("lost_until"),
              .cursor = row->OptionalText("cursor"),
              .features = FeaturesOf(row->View("features")),
              .progress = ProgressOf(row->View("progress"))};
}

std::optional<Linked> FindLinked(db::Session& session) {
  const auto company = session.FindInt(
      R"sql(SELECT company_id FROM cloud_link WHERE url <> '' ORDER BY company_id LIMIT 1)sql");
  if (!company) return std::nullopt;
  auto link = FindLink(session, db::CompanyId{*company});
  if (!link) return std::nullopt;
  return Linked{.company = db::CompanyId{*company}, .link = *std::move(link)};
}

void PutLink(db::Tx& tx, db::CompanyId company, const Link& link) {
  tx.Run(R"sql(
      INSERT INTO cloud_link (company_id, url, ca_file, cloud_company_id, linked_at, since, paused_at,
                              planned_seq, scanned_id, lost_from, lost_until, cursor, features,
                              progress)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
      ON CONFLICT (company_id)
      DO UPDATE SET url = excluded.url, ca_file = excluded.ca_file,
                    cloud_company_id = excluded.cloud_company_id, linked_at = excluded.linked_at,
                    since = excluded.since, paused_at = excluded.paused_at,
                    planned_seq = excluded.planned_seq, scanned_id = excluded.scanned_id,
                    lost_from = excluded.lost_from, lost_until = excluded.lost_until,
                    cursor = excluded.cursor,
                    features = excluded.features, progress = excluded.progress
      )sql",
         company, link.url, link.ca_file, link.cloud_company_id, link.linked_at, link.since,
         link.paused_at, link.planned_seq, link.scanned_id, link.lost_from, link.lost_until,
         link.cursor, ToJson(link.features), ToJson(link.progress));
}

void PutPlannedSeq(db::Tx& tx, db::CompanyId company, int64_t seq) {
  tx.Run(R"sql(UPDATE cloud_link SET planned_seq = $2 WHERE company_id = $1)sql", company, seq);
}

void PutScannedId(db::Tx& tx, db::CompanyId company, const std::optional<std::string>& id) {
  tx.Run(R"sql(UPDATE cloud_link SET scanned_id = $2 WHERE company_id = $1)sql", company, id);
}

void PutCursor(db::Tx& tx, db::CompanyId company, const std::optional<std::string>& cursor) {
  tx.Run(R"sql(UPDATE cloud_link SET cursor = $2 WHERE company_id = $1)sql", company, cursor);
}

void PutFeatures(db::Tx& tx, db::CompanyId company, const Features& features) {
  tx.Run(R"sql(UPDATE cloud_link SET features = $2 WHERE company_id = $1)sql", company,
         ToJson(features));
}

void AddMaker(db::Tx& tx, db::CompanyId company, const std::string& maker) {
  std::optional<Link> link = FindLink(tx, company);
  if (!link || !link->features.makers.insert(maker).second) return;
  PutFeatures(tx, company, link->features);
}

void PutVisit(db::Tx& tx, db::CompanyId company, std::string_view kind, const Visit& visit) {
  const auto stored =
      tx.FindText(R"sql(SELECT progress FROM cloud_link WHERE company_id = $1)sql", company);
  if (!stored) return;  // unlinked meanwhile
  Progress progress = ProgressOf(*stored);
  progress.insert_or_assign(std::string(kind), visit);
  PutProgress(tx, company, progress);
}

void PutProgress(db::Tx& tx, db::CompanyId company, const Progress& progress) {
  tx.Run(R"sql(UPDATE cloud_link SET progress = $2 WHERE company_id = $1)sql", company,
         ToJson(progress));
}

void MakeDue(db::Tx& tx, db::CompanyId company) {
  const auto stored =
      tx.FindText(R"sql(SELECT progress FROM cloud_link WHERE company_id = $1)sql", company);
  if (!stored) return;
  Progress progress = ProgressOf(*stored);
  for (auto& [kind, visit] : progress) {
    // What is to be read of the orders follows from their last reading.
    if (kind != kOrdersPart) visit.at = 0;
    visit.failed_at = 0;
  }
  tx.Run(R"sql(UPDATE cloud_link SET progress = $2 WHERE company_id = $1)sql", company,
         ToJson(progress));
}

void PutPaused(db::Tx& tx, db::CompanyId company, std::optional<UtcMs> paused_at) {
  tx.Run(R"sql(UPDATE cloud_link SET paused_at = $2 WHERE company_id = $1)sql", company, paused_at);
}

void NoteRestored(db::Tx& tx, UtcMs last_change, UtcMs now) {
  // A second restore does not shorten the time. The orders are read as they are now: the events
  // since the backup show them as they were one after the other.
  tx.Run(R"sql(
      UPDATE cloud_link SET lost_from = CASE WHEN lost_from < $1 THEN lost_from ELSE $1 END,
                            lost_until = $2, cursor = NULL
      )sql",
         last_change, now);
}

bool IsLostTime(db::Session& session, db::CompanyId company, UtcMs created_at) {
  // Both clocks are right to some minutes.
  constexpr int64_t kToleranceMs = 300'000;
  return session.Exists(R"sql(
      SELECT 1 FROM cloud_link WHERE company_id = $1 AND lost_from <= $2 AND lost_until >= $3
      )sql",
                        company, created_at + kToleranceMs, created_at - kToleranceMs);
}

void Unlink(db::Tx& tx, db::CompanyId company) {
  tx.Run(R"sql(UPDATE cloud_link SET url = '' WHERE company_id = $1)sql", company);
}

void Forget(db::Tx& tx, db::CompanyId company) {
  tx.Run(R"sql(DELETE FROM cloud_menu WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM cloud_difference WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM cloud_step WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM cloud_order WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM cloud_link WHERE company_id = $1)sql", company);
  aliases::RemoveAll(tx, company);
}

}  // namespace comanda::cloud
