#include "cloud/restaurant/restaurant_rows.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/concat.h"
#include "base/id.h"
#include "base/log.h"
#include "clients/import.h"
#include "cloud/orders/journal_store.h"
#include "cloud/link/link.h"
#include "cloud/restaurant/restaurant_store.h"
#include "company/companies.h"
#include "company/import.h"
#include "company/import_row.h"
#include "crypto/derived_id.h"
#include "events/log.h"
#include "users/import.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using company::ShownId;
using json::Value;

// Of one list; the log has the number of the others.
constexpr size_t kReportedMax = 20;
// Of the differences of these lists.

// The keys by which a record is paired (cloud/orders/pairing.h), in what it shows of a row.
using KeysOf = KeyedRow (*)(Value record);

template <typename Row>
Row ShownBy(Value record) {
  Row row;
  json::Errors ignored;  // the record is refused where it is taken
  ReadShown(record, row, ignored);
  return row;
}

KeyedRow KeysOfPaymentMethod(Value record) {
  return Keyed(ShownId(record), {CodeKey(ShownBy<company::PaymentMethod>(record).code)});
}

KeyedRow KeysOfTable(Value record) {
  return Keyed(ShownId(record), {NameKey(ShownBy<company::Table>(record).name)});
}

template <typename Person>
KeyedRow KeysOfPerson(Value record) {
  const auto person = ShownBy<Person>(record);
  return Keyed(ShownId(record), {EmailKey(person.email.value_or("")),
                                 PhoneKey(person.country_calling_code.value_or(""),
                                          person.phone_number.value_or("")),
                                 NameKey(person.name)});
}

// A list of one kind of rows.
struct List {
  Kind kind;
  KeysOf keys;
  // Writes the record as the row with that local id; true if that changes anything. Throws Refusal.
  std::function<bool(db::Tx& tx, Value record, const std::string& id, const db::Stamp& stamp)> take;
  // Of a list that is complete: makes a row that it lacks inactive; true if that changes anything.
  std::function<bool(db::Tx& tx, const std::string& id)> end = {};
};

std::optional<std::string> FindAlias(db::Session& session, db::CompanyId company, Kind kind,
                                     const std::string& cloud_id) {
  if (cloud_id.empty()) return std::nullopt;
  return aliases::FindBoxId(session, company, kind, cloud_id);
}

// Removes the aliases of rows that a complete list lacks, so that one that the cloud has deleted
// and made again pairs with the same local row. The local ids.
std::vector<std::string> Unpair(db::Tx& tx, db::CompanyId company, Kind kind,
                                const std::vector<Value>& records) {
  std::set<std::string> listed;
  for (const Value record : records) listed.insert(ShownId(record));
  std::vector<std::string> gone;
  for (const auto& [box_id, cloud_id] : store::AliasesOf(tx, company, kind)) {
    if (listed.contains(cloud_id)) continue;
    aliases::Remove(tx, company, kind, box_id);
    gone.push_back(box_id);
  }
  return gone;
}

// Writes the rows that are not refused; true if that changes anything.
bool TakeRows(db::Tx& tx, db::CompanyId company_id, const std::vector<Value>& records,
              const List& list, const db::Stamp& stamp, Refused& refused) {
  std::vector<std::string> gone;
  if (list.end) gone = Unpair(tx, company_id, list.kind, records);
  std::vector<CloudRow> rows;
  for (const Value record : records) {
    rows.push_back({.cloud_id = ShownId(record), .keyed = list.keys(record)});
  }
  const auto ids = IdsHere(tx, company::Get(tx, company_id), list.kind, rows);
  bool is_changed = false;
  for (size_t i = 0; i < records.size(); ++i) {
    try {
      is_changed |= list.take(tx, records[i], ids[i], stamp);
      PutAlias(tx, company_id, list.kind, rows[i].cloud_id, ids[i]);
    } catch (const Refusal& refusal) {
      refused.emplace(i, ReasonOf(refusal.errors.front()));
    }
  }
  for (const std::string& id : gone) {
    if (std::ranges::find(ids, id) == ids.end()) is_changed |= list.end(tx, id);
  }
  return is_changed;
}

void TakeList(const Importer& importer, const std::vector<Value>& records, const List& list) {
  Refused refused;
  importer.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    refused.clear();
    if (TakeRows(tx, importer.company, records, list, stamp, refused)) {
      events::RaiseCounter(tx, importer.company, events::Counter::kOther);
    }
  });
  Report(importer, DifferenceKind::kLink, refused,
         [&](size_t index) { return ShownId(records[index]); });
}

// An address without an id is known by its text.
CloudRow AddressKeys(Value record, const std::string& client_id) {
  std::string cloud_id = ShownId(record);
  KeyedRow keyed = Keyed(cloud_id, {NameKey(ShownBy<clients::Address>(record).address)});
  std::string seed =
      keyed.keys[0].empty() ? client_id : Concat({client_id, ":", keyed.keys[0].front()});
  return {.cloud_id = std::move(cloud_id), .keyed = std::move(keyed), .seed = std::move(seed)};
}

// The addresses of a client's record, as they are to be here. Fills `rows`.
std::vector<clients::Address> ReadAddresses(db::Tx& tx, const company::Company& company,
                                            Value record, const std::string& client_id,
                                            std::vector<CloudRow>& rows, json::Errors& errors) {
  const std::vector<Value> records = RowsOf(record, "addresses");
  for (const Value one : records) rows.push_back(AddressKeys(one, client_id));
  std::vector<KeyedRow> candidates;
  for (const auto& box : clients::AddressesOf(tx, company.company_id, client_id)) {
    if (aliases::FindByBoxId(tx, company.company_id, Kind::kAddress, box.id)) continue;
    candidates.push_back({.id = box.id, .keys = {NameKey(box.address)}});
  }
  const auto ids = IdsAmong(tx, company, Kind::kAddress, rows, candidates);
  std::vector<clients::Address> addresses;
  for (size_t i = 0; i < records.size(); ++i) {
    clients::Address& address = addresses.emplace_back(
        clients::FindAddress(tx, company.company_id, ids[i]).value_or(clients::Address{}));
    address.id = ids[i];
    address.client_id = client_id;
    clients::ReadShown(records[i], address, errors);
  }
  return addresses;
}

bool TakeClient(db::Tx& tx, db::CompanyId company_id, Value record, const std::string& id,
                const db::Stamp& stamp) {
  clients::Draft draft{.client = clients::Find(tx, company_id, id).value_or(clients::Client{}),
                       .addresses = {}};
  draft.client.id = id;
  json::Errors errors;
  clients::ReadShown(record, draft.client, errors);
  std::vector<CloudRow> rows;
  draft.addresses = ReadAddresses(tx, company::Get(tx, company_id), record, id, rows, errors);
  errors.ThrowIfAny();
  const bool is_changed = clients::Import(tx, company_id, {draft}, stamp).clients.changed();
  for (size_t i = 0; i < rows.size(); ++i) {
    PutAlias(tx, company_id, Kind::kAddress, rows[i].cloud_id, draft.addresses[i].id);
  }
  return is_changed;
}

bool TakeUser(db::Tx& tx, db::CompanyId company, Value record, const std::string& id,
              const db::Stamp& stamp) {
  users::User user = users::Find(tx, company, id).value_or(users::User{});
  user.id = id;
  json::Errors errors;
  users::ReadShown(record, user, errors);
  errors.ThrowIfAny();
  return users::Import(tx, company, {user}, stamp).changed();
}

// A payment method or table. The list has active ones alone; `row` is that of this box, or what a
// new one has.
template <typename Row>
bool TakeActive(db::Tx& tx, db::CompanyId company, Value record, const std::string& id, Row row) {
  row.id = id;
  row.active = true;
  json::Errors errors;
  ReadShown(record, row, errors);
  errors.ThrowIfAny();
  return company::Put(tx, company, row) != company::UpsertResult::kUnchanged;
}

template <typename Row>
bool End(db::Tx& tx, db::CompanyId company, std::optional<Row> row) {
  if (!row) return false;
  row->active = false;
  return company::Put(tx, company, *row) != company::UpsertResult::kUnchanged;
}

}  // namespace

KeyedRow Keyed(const std::string& cloud_id, std::vector<std::vector<std::string>> keys) {
  return {.id = ParseId(cloud_id).value_or(cloud_id), .keys = std::move(keys)};
}

std::string FreshId(db::Session& session, const company::Company& company, Kind kind,
                    std::string_view cloud_id) {
  const std::optional<std::string> id = ParseId(cloud_id);
  if (id && !aliases::FindByBoxId(session, company.company_id, kind, *id)) return *id;
  return crypto::DerivedId(company.id, Concat({"cloud:", static_cast<int>(kind), ":", cloud_id}));
}

void PutAlias(db::Tx& tx, db::CompanyId company, Kind kind, std::string_view cloud_id,
              std::string_view box_id) {
  if (cloud_id.empty() || aliases::FindBoxId(tx, company, kind, cloud_id) == box_id) return;
  aliases::Put(tx, company,
               {.kind = kind,
                .cloud_id = std::string(cloud_id),
                .box_id = std::string(box_id),
                .cloud_public_id = std::nullopt});
}

std::vector<std::string> IdsAmong(db::Session& session, const company::Company& company, Kind kind,
                                  const std::vector<CloudRow>& rows,
                                  const std::vector<KeyedRow>& candidates) {
  std::vector<std::string> ids(rows.size());
  std::vector<KeyedRow> unknown;
  std::vector<size_t> indexes;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (auto known = FindAlias(session, company.company_id, kind, rows[i].cloud_id)) {
      ids[i] = *std::move(known);
    } else {
      unknown.push_back(rows[i].keyed);
      indexes.push_back(i);
    }
  }
  const auto pairs = Pair(unknown, candidates);
  for (size_t i = 0; i < unknown.size(); ++i) {
    const CloudRow& row = rows[indexes[i]];
    const std::string& seed = row.cloud_id.empty() ? row.seed : row.cloud_id;
    ids[indexes[i]] = pairs[i] ? candidates[*pairs[i]].id : FreshId(session, company, kind, seed);
  }
  return ids;
}

std::vector<std::string> IdsHere(db::Session& session, const company::Company& company, Kind kind,
                                 const std::vector<CloudRow>& rows) {
  const bool all_known = std::ranges::all_of(rows, [&](const CloudRow& row) {
    return FindAlias(session, company.company_id, kind, row.cloud_id).has_value();
  });
  std::vector<KeyedRow> candidates;
  if (!all_known) {
    for (store::UnpairedRow& row : store::Unpaired(session, company.company_id, kind)) {
      candidates.push_back(std::move(row.keyed));
    }
  }
  return IdsAmong(session, company, kind, rows, candidates);
}

std::string ReasonOf(const FieldError& error) {
  const std::string_view field = error.field;
  return Concat({field.substr(field.rfind('.') + 1), " ", error.message});
}

std::string Describe(const Omitted& omitted) {
  if (omitted.count == 0) return "";
  if (omitted.count == 1) return Concat({"a record is left out, ", omitted.first});
  return Concat({omitted.count, " records are left out, the first is ", omitted.first});
}

void Report(const Importer& importer, DifferenceKind kind, const Refused& refused,
            const std::function<std::string(size_t)>& cloud_id) {
  if (refused.empty()) return;
  const auto& [first, reason] = *refused.begin();
  Omitted& omitted = importer.omitted;
  if (omitted.count == 0) omitted.first = Concat({cloud_id(first), ": ", reason});
  omitted.count += std::ssize(refused);
  log::Warning("left out records of the cloud that this box does not accept",
               {{"kind", Name(kind)},
                {"count", refused.size()},
                {"cloud_id", cloud_id(first)},
                {"reason", reason}});
  importer.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    size_t reported = 0;
    for (const auto& [index, why] : refused) {
      if (reported++ == kReportedMax) return;
      store::NoteDifference(
          tx, importer.company,
          {.order_id = "", .kind = kind, .box = "", .cloud = cloud_id(index), .detail = why},
          stamp.now);
    }
  });
}

bool WriteUnlessRefused(db::Database& database,
                        const std::function<void(db::Tx&, const db::Stamp&)>& job) {
  try {
    database.Write(job);
    return true;
  } catch (const Refusal& refusal) {
    log::Warning("the menu cannot be brought up to date", {{"reason", refusal.detail}});
    return false;
  }
}

bool IsAllPlanned(db::Session& session, db::CompanyId company) {
  const std::optional<Link> link = FindLink(session, company);
  return !link || link->planned_seq >= events::ExtentOf(session, company).last;
}

std::vector<Value> RowsOf(Value record, std::string_view list) {
  const auto found =
      record.kind() == json::Kind::kObject ? record.Find(list) : std::optional<Value>();
  if (!found || found->kind() != json::Kind::kArray) return {};
  std::vector<Value> rows = found->items();
  std::erase_if(rows, [](Value row) { return row.kind() != json::Kind::kObject; });
  return rows;
}

void TakeCompany(const Importer& importer, Value record) {
  std::vector<FieldError> errors;
  importer.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    company::Draft draft{.company = company::Get(tx, importer.company)};
    errors = company::ReadShown(record, draft.company);
    if (!company::Import(tx, draft, stamp).company.changed()) return;
    using events::Counter;
    for (const Counter counter : {Counter::kCatalogue, Counter::kOther, Counter::kOrders}) {
      events::RaiseCounter(tx, importer.company, counter);
    }
  });
  Refused refused;
  for (const FieldError& error : errors) refused.emplace(refused.size(), ReasonOf(error));
  Report(importer, DifferenceKind::kLink, refused, [&](size_t) { return ShownId(record); });
}

void TakePaymentMethods(const Importer& importer, const std::vector<Value>& records,
                        bool is_complete) {
  if (records.empty()) return;
  const db::CompanyId company = importer.company;
  List list{.kind = Kind::kPaymentMethod,
            .keys = KeysOfPaymentMethod,
            .take = [&](db::Tx& tx, Value record, const std::string& id, const db::Stamp&) {
              const company::PaymentMethod made{.service_types = company::kAllServiceTypes};
              return TakeActive(tx, company, record, id,
                                company::FindPaymentMethod(tx, company, id).value_or(made));
            }};
  if (is_complete) {
    list.end = [&](db::Tx& tx, const std::string& id) {
      return End(tx, company, company::FindPaymentMethod(tx, company, id));
    };
  }
  TakeList(importer, records, list);
}

void TakeTables(const Importer& importer, const std::vector<Value>& records, bool is_complete) {
  if (records.empty() && !is_complete) return;
  const db::CompanyId company = importer.company;
  List list{.kind = Kind::kTable,
            .keys = KeysOfTable,
            .take = [&](db::Tx& tx, Value record, const std::string& id, const db::Stamp&) {
              return TakeActive(tx, company, record, id,
                                company::FindTable(tx, company, id).value_or(company::Table{}));
            }};
  if (is_complete) {
    list.end = [&](db::Tx& tx, const std::string& id) {
      return End(tx, company, company::FindTable(tx, company, id));
    };
  }
  TakeList(importer, records, list);
}

void TakeUsers(const Importer& importer, const std::vector<Value>& records) {
  if (records.empty()) return;
  TakeList(importer, records,
           {.kind = Kind::kUser,
            .keys = KeysOfPerson<users::User>,
            .take = [&](db::Tx& tx, Value record, const std::string& id, const db::Stamp& stamp) {
              return TakeUser(tx, importer.company, record, id, stamp);
            }});
}

void TakeClients(const Importer& importer, const std::vector<Value>& records) {
  if (records.empty()) return;
  TakeList(importer, records,
           {.kind = Kind::kClient,
            .keys = KeysOfPerson<clients::Client>,
            .take = [&](db::Tx& tx, Value record, const std::string& id, const db::Stamp& stamp) {
              return TakeClient(tx, importer.company, record, id, stamp);
            }});
}

}  // namespace comanda::cloud
