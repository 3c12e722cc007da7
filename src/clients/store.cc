#include "clients/store.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.h"
#include "clients/clients.h"
#include "clients/search.h"

namespace comanda::clients {

namespace {

// What begins with a text stands from that text up to the text with this character behind it.
constexpr std::string_view kLastCharacter = "\U0010FFFF";

Address ReadAddress(const auto& row) {
  Address address;
  address.id = row.Text("id");
  address.client_id = row.Text("client_id");
  address.address = row.Text("address");
  address.area = row.OptionalText("area");
  address.city = row.OptionalText("city");
  address.reference = row.OptionalText("reference");
  address.complement = row.OptionalText("complement");
  address.latitude = row.OptionalText("latitude");
  address.longitude = row.OptionalText("longitude");
  return address;
}

Client ReadClient(const auto& row) {
  Client client;
  client.id = row.Text("id");
  client.name = row.Text("name");
  client.email = row.OptionalText("email");
  client.country_calling_code = row.OptionalText("country_calling_code");
  client.phone_number = row.OptionalText("phone_number");
  client.document_type = row.OptionalText("document_type");
  client.document_number = row.OptionalText("document_number");
  client.notes = row.OptionalText("notes");
  client.orders_count = row.Int("orders_count");
  client.last_order_at = row.OptionalInt("last_order_at");
  client.created_at = row.Int("created_at");
  client.updated_at = row.Int("updated_at");
  return client;
}

// `before`: the words that the row had until now.
void WriteWords(db::Tx& tx, db::CompanyId company, std::string_view id,
                const std::vector<std::string>& before, const std::vector<std::string>& words) {
  for (const std::string& word : before) {
    if (std::ranges::binary_search(words, word)) continue;
    tx.Run(
        R"sql(
      DELETE FROM client_word
      WHERE company_id = $1 AND word = $2 AND client_seq =
        (SELECT created_seq FROM client WHERE company_id = $1 AND id = $3)
      )sql",
        company, word, id);
  }
  for (const std::string& word : words) {
    tx.Run(
        R"sql(
      INSERT INTO client_word (company_id, word, client_seq)
      SELECT $1, $2, created_seq FROM client WHERE company_id = $1 AND id = $3
      ON CONFLICT (company_id, word, client_seq) DO NOTHING
      )sql",
        company, word, id);
  }
}

}  // namespace

std::optional<Client> Select(db::Session& session, db::CompanyId company, std::string_view id) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, name, email, country_calling_code, phone_number, document_type, document_number,
        notes, orders_count, last_order_at, created_at, updated_at
      FROM client WHERE company_id = $1 AND id = $2
      )sql";
  const auto row = session.One<kSelect>(company, id);
  if (!row) return std::nullopt;
  return ReadClient(*row);
}

std::optional<Address> SelectAddress(db::Session& session, db::CompanyId company,
                                     std::string_view id) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, client_id, address, area, city, reference, complement, latitude, longitude
      FROM address WHERE company_id = $1 AND id = $2
      )sql";
  const auto row = session.One<kSelect>(company, id);
  if (!row) return std::nullopt;
  return ReadAddress(*row);
}

std::vector<Address> SelectAddresses(db::Session& session, db::CompanyId company,
                                     std::string_view client_id) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT id, client_id, address, area, city, reference, complement, latitude, longitude
      FROM address WHERE company_id = $1 AND client_id = $2 ORDER BY position, id
      )sql";
  auto rows = session.Query<kSelect>(company, client_id);
  std::vector<Address> addresses;
  while (rows.Next()) addresses.push_back(ReadAddress(rows));
  return addresses;
}

int64_t LastCreated(db::Session& session, db::CompanyId company) {
  return session.GetInt(
      R"sql(SELECT coalesce(max(created_seq), 0) FROM client WHERE company_id = $1)sql", company);
}

namespace {

constexpr db::Sql kAllClients = R"sql(
    SELECT c.id, c.name, c.email, c.country_calling_code, c.phone_number, c.document_type,
      c.document_number, c.notes, c.orders_count, c.last_order_at, c.created_at, c.updated_at
    FROM client c
    WHERE c.company_id = $1)sql";
constexpr db::Sql kFoundClients = R"sql(
    SELECT c.id, c.name, c.email, c.country_calling_code, c.phone_number, c.document_type,
      c.document_number, c.notes, c.orders_count, c.last_order_at, c.created_at, c.updated_at
    FROM (
      SELECT w.client_seq AS seq FROM client_word w
      WHERE w.company_id = $1 AND w.word >= $2 AND w.word < $2 || $4
      UNION
      SELECT p.created_seq FROM client p
      WHERE p.company_id = $1 AND p.phone_reversed >= $3 AND p.phone_reversed < $3 || $4
    ) AS found CROSS JOIN client c
    WHERE c.company_id = $1 AND c.created_seq = found.seq)sql";

template <const db::Sql& kBase>
std::vector<Listed> ReadPage(db::Session& session, const db::ClauseBuilder& sql) {
  std::vector<Listed> page;
  auto rows = session.Query<kBase>(sql);
  while (rows.Next()) page.push_back({ReadClient(rows), {}});
  return page;
}

}  // namespace

db::ClauseBuilder PageOf(db::CompanyId company, const Term* term) {
  if (term == nullptr) return {kAllClients, {company}};
  return {kFoundClients, {company, term->word, term->phone_end, kLastCharacter}};
}

db::ClauseBuilder CountOf(db::CompanyId company, const Term* term) {
  if (term == nullptr) {
    return {R"sql(SELECT count(*) FROM client c WHERE c.company_id = $1)sql", {company}};
  }
  return {R"sql(
    SELECT count(*)
    FROM (
      SELECT w.client_seq AS seq FROM client_word w
      WHERE w.company_id = $1 AND w.word >= $2 AND w.word < $2 || $4
      UNION
      SELECT p.created_seq FROM client p
      WHERE p.company_id = $1 AND p.phone_reversed >= $3 AND p.phone_reversed < $3 || $4
    ) AS found CROSS JOIN client c
    WHERE c.company_id = $1 AND c.created_seq = found.seq)sql",
          {company, term->word, term->phone_end, kLastCharacter}};
}

void AndMatches(db::ClauseBuilder& sql, const Term& term) {
  sql.AndEach(
      R"sql(c.created_seq IN (
      SELECT w.client_seq FROM client_word w
      WHERE w.company_id = $1 AND w.word >= {} AND w.word < {} || {}
      UNION
      SELECT p.created_seq FROM client p
      WHERE p.company_id = $1 AND p.phone_reversed >= {} AND p.phone_reversed < {} || {}))sql",
      {term.word, term.word, kLastCharacter, term.phone_end, term.phone_end, kLastCharacter});
}

void AndHasPhone(db::ClauseBuilder& sql, const PhoneTwins& phone) {
  sql.AndEach(R"sql(c.phone_reversed >= {} AND c.phone_reversed < {} || {})sql",
              {phone.end, phone.end, kLastCharacter});
  sql.And(R"sql((c.phone_reversed IN ({}) OR 'n' || c.phone_number IN ({})))sql",
          std::vector<db::Bound>(phone.keys.begin(), phone.keys.end()));
}

std::vector<Listed> SelectPage(db::Session& session, db::CompanyId company,
                               const db::ClauseBuilder& sql) {
  std::vector<Listed> page = sql.IsMadeOf(kAllClients) ? ReadPage<kAllClients>(session, sql)
                                                       : ReadPage<kFoundClients>(session, sql);
  if (page.empty()) return page;
  std::vector<db::Bound> ids;
  for (const Listed& listed : page) ids.emplace_back(listed.client.id);
  static constexpr db::Sql kAddresses = R"sql(
      SELECT a.id, a.client_id, a.address, a.area, a.city, a.reference, a.complement, a.latitude,
        a.longitude
      FROM address a WHERE a.company_id = $1
      )sql";
  auto rows = session.Query<kAddresses>(db::ClauseBuilder(kAddresses, {company})
                                            .And("a.client_id IN ({})", ids)
                                            .OrderBy("a.client_id, a.position, a.id"));
  while (rows.Next()) {
    Address address = ReadAddress(rows);
    const auto of = std::ranges::find(
        page, address.client_id,
        [](const Listed& listed) -> const std::string& { return listed.client.id; });
    of->addresses.push_back(std::move(address));
  }
  return page;
}

std::vector<std::string> FindIds(db::Session& session, db::CompanyId company,
                                 const std::vector<Term>& terms, int64_t limit) {
  if (terms.empty()) return {};
  db::ClauseBuilder sql = PageOf(company, &terms.front());
  for (size_t i = 1; i < terms.size(); ++i) AndMatches(sql, terms[i]);
  sql.OrderBy("c.last_order_at DESC NULLS LAST, c.id DESC").Limit(limit, 0);
  std::vector<std::string> ids;
  for (const Listed& found : ReadPage<kFoundClients>(session, sql)) ids.push_back(found.client.id);
  return ids;
}

bool AnyUnsearchable(db::Session& session) {
  return session.Exists(R"sql(SELECT 1 FROM client WHERE searchable = 0 LIMIT 1)sql");
}

void IndexUnsearchable(db::Tx& tx, int limit) {
  static constexpr db::Sql kSelect =
      R"sql(SELECT company_id, id FROM client WHERE searchable = 0 LIMIT $1)sql";
  std::vector<std::pair<db::CompanyId, std::string>> clients;
  {
    auto rows = tx.Query<kSelect>(limit);
    while (rows.Next()) clients.emplace_back(rows.Company("company_id"), rows.Text("id"));
  }
  for (const auto& [company, id] : clients) {
    const std::optional<Client> client = Select(tx, company, id);
    if (!client) tx.ThrowDamaged(kSelect, "an index names a client that is not found");
    WriteWords(tx, company, id, {}, SearchWords(client->name, client->email));
    tx.RunOne(
        R"sql(
      UPDATE client SET phone_reversed = $3, searchable = 1 WHERE company_id = $1 AND id = $2
      )sql",
        company, id, ReversedPhone(client->country_calling_code, client->phone_number));
  }
}

void CountOrder(db::Tx& tx, db::CompanyId company, std::string_view client_id, UtcMs at,
                UtcMs now) {
  tx.RunOne(
      R"sql(
      UPDATE client SET orders_count = orders_count + 1, updated_at = $4,
        last_order_at = CASE WHEN last_order_at > $3 THEN last_order_at ELSE $3 END
      WHERE company_id = $1 AND id = $2
      )sql",
      company, client_id, at, now);
}

company::UpsertResult Upsert(db::Tx& tx, db::CompanyId company, const Client& client,
                             const db::Stamp& stamp) {
  const std::optional<Client> known = Select(tx, company, client.id);
  const int64_t written = tx.RunCounted(
      R"sql(
      INSERT INTO client (company_id, id, name, name_folded, email, country_calling_code,
        phone_number, document_type, document_number, notes, created_at, updated_at,
        phone_reversed, searchable, created_seq)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, 1,
        (SELECT coalesce(max(created_seq), 0) + 1 FROM client WHERE company_id = $1))
      ON CONFLICT (company_id, id) DO UPDATE SET name = excluded.name,
        name_folded = excluded.name_folded, email = excluded.email,
        country_calling_code = excluded.country_calling_code,
        phone_number = excluded.phone_number, document_type = excluded.document_type,
        document_number = excluded.document_number, notes = excluded.notes,
        updated_at = excluded.updated_at, phone_reversed = excluded.phone_reversed,
        searchable = excluded.searchable
      WHERE (client.name, client.name_folded, client.email, client.country_calling_code,
        client.phone_number, client.document_type, client.document_number, client.notes)
        IS DISTINCT FROM (excluded.name, excluded.name_folded, excluded.email,
        excluded.country_calling_code, excluded.phone_number, excluded.document_type,
        excluded.document_number, excluded.notes)
      )sql",
      company, client.id, client.name, Folded(client.name), client.email,
      client.country_calling_code, client.phone_number, client.document_type,
      client.document_number, client.notes, stamp.now,
      ReversedPhone(client.country_calling_code, client.phone_number));
  if (written > 0) {
    WriteWords(tx, company, client.id,
               known ? SearchWords(known->name, known->email) : std::vector<std::string>(),
               SearchWords(client.name, client.email));
  }
  return company::ResultOf(known.has_value(), written);
}

company::UpsertResult Upsert(db::Tx& tx, db::CompanyId company, const Address& address,
                             int position) {
  const bool existed = SelectAddress(tx, company, address.id).has_value();
  const int64_t written = tx.RunCounted(
      R"sql(
      INSERT INTO address (company_id, id, client_id, address, area, city, reference, complement,
        latitude, longitude, position)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
      ON CONFLICT (company_id, id) DO UPDATE SET client_id = excluded.client_id,
        address = excluded.address, area = excluded.area, city = excluded.city,
        reference = excluded.reference, complement = excluded.complement,
        latitude = excluded.latitude, longitude = excluded.longitude, position = excluded.position
      WHERE (address.client_id, address.address, address.area, address.city, address.reference,
        address.complement, address.latitude, address.longitude, address.position)
        IS DISTINCT FROM (excluded.client_id, excluded.address, excluded.area, excluded.city,
        excluded.reference, excluded.complement, excluded.latitude, excluded.longitude,
        excluded.position)
      )sql",
      company, address.id, address.client_id, address.address, address.area, address.city,
      address.reference, address.complement, address.latitude, address.longitude, position);
  return company::ResultOf(existed, written);
}

void Touch(db::Tx& tx, db::CompanyId company, std::string_view client_id, const db::Stamp& stamp) {
  tx.RunOne(R"sql(UPDATE client SET updated_at = $3 WHERE company_id = $1 AND id = $2)sql", company,
            client_id, stamp.now);
}

void EraseAll(db::Tx& tx, db::CompanyId company) {
  tx.Run(R"sql(DELETE FROM client_word WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM address WHERE company_id = $1)sql", company);
  tx.Run(R"sql(DELETE FROM client WHERE company_id = $1)sql", company);
}

db::RowCount CountUpTo(db::Session& session, db::CompanyId company, int64_t last) {
  static constexpr db::Sql kSelect = R"sql(
      SELECT count(*) AS found, coalesce(max(created_seq), 0) AS last FROM client
      WHERE company_id = $1 AND created_seq <= $2
      )sql";
  const auto row = session.One<kSelect>(company, last);
  return {.rows = row->Int("found"), .last = row->Int("last")};
}

}  // namespace comanda::clients
