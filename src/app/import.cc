#include "app/import.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/demo_orders.h"
#include "app/embedded.h"
#include "app/import_line.h"
#include "base/problem.h"
#include "clients/clients.h"
#include "clients/import.h"
#include "company/companies.h"
#include "company/import.h"
#include "company/import_row.h"
#include "events/log.h"
#include "http/idempotency.h"
#include "json/reader.h"
#include "kitchen/kitchen.h"
#include "menu/catalogue.h"
#include "menu/json.h"
#include "menu/menu.h"
#include "orders/orders.h"
#include "users/import.h"
#include "users/users.h"
#include "webhooks/webhooks.h"

namespace comanda::app {
namespace {

constexpr size_t kCompaniesMax = 1'000;

// One company of the document: what each room has read of it.
struct Draft {
  company::Draft company;
  menu::Draft menu;
  std::vector<clients::Draft> clients;
  std::vector<users::User> users;
};

Draft ReadRestaurant(json::ObjectReader& row, const std::vector<company::Company>& stored) {
  Draft draft;
  draft.company = company::ReadDraft(row, stored);
  draft.menu = menu::ReadFile(row, draft.company.company);
  draft.clients = clients::ReadFile(row, draft.company.company.id);
  draft.users = users::ReadFile(row, draft.company.company.id);
  row.Finish();
  return draft;
}

std::vector<Draft> ReadDrafts(const json::Document& document,
                              const std::vector<company::Company>& stored, json::Errors& errors) {
  // Unknown fields are refused in both environments: ignoring a misspelt one would lose data.
  json::ObjectReader file(document.root(), "", errors, json::UnknownFields::kRefused);
  company::Distinct ids;
  std::vector<Draft> drafts;
  for (json::ObjectReader& row : file.RequireObjects("companies", kCompaniesMax)) {
    drafts.push_back(ReadRestaurant(row, stored));
    ids.Add(row, "id", drafts.back().company.company.id);
  }
  file.Finish();
  return drafts;
}

std::string NewCompanyMessage(const std::vector<company::Company>& stored) {
  constexpr size_t kNamed = 5;
  std::string names;
  for (size_t i = 0; i < std::min(stored.size(), kNamed); ++i) {
    if (i > 0) names += ", ";
    names += stored[i].name + " (" + stored[i].id + ")";
  }
  if (stored.size() > kNamed) names += " and " + std::to_string(stored.size() - kNamed) + " more";
  return "is required: no restaurant here has this name, and it would become another one beside " +
         names + ". Give the id of the one that is meant, or say --new-company";
}

// Adds an error for each company that NewCompanies::kByIdAlone refuses.
void CheckCompanies(db::Session& session, const std::vector<Draft>& drafts,
                    NewCompanies new_companies, json::Errors& errors) {
  if (new_companies == NewCompanies::kTaken) return;
  const std::vector<company::Company> stored = company::All(session);
  if (stored.empty()) return;
  for (const Draft& draft : drafts) {
    const bool is_stored =
        std::ranges::find(stored, draft.company.company.id, &company::Company::id) != stored.end();
    if (draft.company.has_id || is_stored) continue;
    errors.Add(draft.company.path + ".id", FieldCode::kRequired, NewCompanyMessage(stored),
               draft.company.offset);
  }
}

// Adds an error for each row that conflicts with another row of the document or a stored row.
void Check(db::Session& session, const std::vector<Draft>& drafts, NewCompanies new_companies,
           json::Errors& errors) {
  CheckCompanies(session, drafts, new_companies, errors);
  for (const Draft& draft : drafts) {
    company::Check(session, draft.company, errors);
    const auto stored = company::FindByUuid(session, draft.company.company.id);
    // A new company has no number yet. No company has the number 0, so no stored row is found.
    menu::Check(session, stored ? stored->company_id : db::CompanyId(), draft.menu, errors);
  }
}

ImportCounts Counts(std::string_view kind, const company::ImportCounts& counts) {
  return {.kind = kind,
          .inserted = counts.inserted,
          .updated = counts.updated,
          .unchanged = counts.unchanged};
}

enum class Announced : uint8_t { kToFollowers, kToNobody };

CompanySummary ImportCompany(db::Tx& tx, const Draft& draft, const db::Stamp& stamp,
                             Announced announced) {
  const company::Imported own = company::Import(tx, draft.company, stamp);
  const menu::Written menu = menu::Write(tx, own.company_id, draft.menu, stamp);
  const clients::Imported clients = clients::Import(tx, own.company_id, draft.clients, stamp);
  const company::ImportCounts users = users::Import(tx, own.company_id, draft.users, stamp);

  // Events are written for changes of the menu of a company that was there before. All other
  // changes only raise the counters on which the entity tags of lists depend.
  const bool followed = announced == Announced::kToFollowers && own.company.inserted == 0;
  const bool told = followed && menu::Announce(tx, company::Get(tx, own.company_id), menu, stamp);
  if (!told && (menu.changed() || own.company.changed())) {
    events::RaiseCounter(tx, own.company_id, events::Counter::kCatalogue);
  }
  if (own.company.changed() || own.payment_methods.changed() || own.tables.changed() ||
      clients.clients.changed() || users.changed()) {
    events::RaiseCounter(tx, own.company_id, events::Counter::kOther);
  }
  // Which lines the kitchen has to make.
  if (menu.stations.changed()) {
    const auto tell = followed ? std::span<const std::string>(menu.switched_stations)
                               : std::span<const std::string>();
    kitchen::NoteStations(tx, own.company_id, draft.company.company.id, tell, stamp);
  }
  // The company's time zone affects which orders a filter by date matches.
  if (own.company.updated > 0) {
    events::RaiseCounter(tx, own.company_id, events::Counter::kOrders);
  }
  return {
      .id = draft.company.company.id,
      .name = draft.company.company.name,
      .counts = {Counts("companies", own.company), Counts("payment_methods", own.payment_methods),
                 Counts("tables", own.tables), Counts("users", users),
                 Counts("clients", clients.clients), Counts("addresses", clients.addresses),
                 Counts("stations", menu.stations), Counts("categories", menu.categories),
                 Counts("products", menu.products), Counts("variants", menu.variants),
                 Counts("modifier_categories", menu.modifier_categories),
                 Counts("modifiers", menu.modifiers)},
      .left_out = menu::FindLeftOut(tx, own.company_id, draft.menu)};
}

// Appends the line in the document to the message of each wrong field.
Refusal WithLines(Refusal refusal, const json::Document& document, std::string_view text) {
  for (FieldError& error : refusal.errors) {
    error.message += " (line " + std::to_string(LineOf(document, text, error.field)) + ")";
  }
  // The detail of a Refusal with one wrong field repeats that field's message.
  if (refusal.errors.size() == 1) {
    refusal.detail = refusal.errors[0].field + ": " + refusal.errors[0].message;
  }
  return refusal;
}

}  // namespace

ImportSummary Import(db::Database& database, std::string_view text, NewCompanies new_companies) {
  const json::Document document = json::Document::Parse(text);
  try {
    json::Errors errors;
    const std::vector<company::Company> stored =
        database.Read([](db::Snapshot& snapshot) { return company::All(snapshot); });
    const std::vector<Draft> drafts = ReadDrafts(document, stored, errors);
    database.Read([&](db::Snapshot& snapshot) { Check(snapshot, drafts, new_companies, errors); });
    errors.ThrowIfAny();
    // Rows may have changed since Check(): each room checks again in the transaction and refuses
    // what conflicts. The document's size limits how long the transaction takes.
    const ImportSummary summary = database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      json::Errors late;
      CheckCompanies(tx, drafts, new_companies, late);
      late.ThrowIfAny();
      ImportSummary written;
      for (const Draft& draft : drafts) {
        written.companies.push_back(ImportCompany(tx, draft, stamp, Announced::kToFollowers));
      }
      return written;
    });
    menu::RenderStale(database);
    return summary;
  } catch (const Refusal& refusal) {
    throw WithLines(refusal, document, text);
  }
}

void ResetSandbox(db::Tx& tx, db::CompanyId company, std::string_view company_uuid,
                  const db::Stamp& stamp) {
  kitchen::EraseAll(tx, company);
  orders::EraseAll(tx, company);
  http::idempotency::ForgetAll(tx, company);
  events::RestartNumbering(tx, company);
  webhooks::RemoveAll(tx, company);
  json::Errors errors;
  const json::Document demo = json::Document::Parse(DemoJson());
  const std::vector<Draft> drafts = ReadDrafts(demo, company::All(tx), errors);
  errors.ThrowIfAny();
  for (const Draft& draft : drafts) {
    if (draft.company.company.id != company_uuid) continue;
    menu::EraseAll(tx, company);
    clients::EraseAll(tx, company);
    users::EraseAll(tx, company);
    company::EraseAll(tx, company);
    // Without events of the menu: the new epoch makes every reader start again from the lists.
    ImportCompany(tx, draft, stamp, Announced::kToNobody);
    PlaceDemoOrders(tx, company::Get(tx, company), stamp);
  }
}

ImportSummary ImportDemo(db::Database& database, NewCompanies new_companies) {
  const ImportSummary summary = Import(database, DemoJson(), new_companies);
  database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    for (const CompanySummary& one : summary.companies) {
      PlaceDemoOrders(tx, *company::FindByUuid(tx, one.id), stamp);
    }
  });
  return summary;
}

}  // namespace comanda::app
