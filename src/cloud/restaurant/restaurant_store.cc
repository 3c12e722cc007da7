#include "cloud/restaurant/restaurant_store.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/concat.h"

namespace comanda::cloud::store {
namespace {

using aliases::Kind;

constexpr char kPushed = '@';  // between a hash of this box and MenuState::pushed_at

// Clients and users.
template <typename Rows>
std::vector<UnpairedRow> People(Rows rows) {
  std::vector<UnpairedRow> people;
  while (rows.Next()) {
    std::string name = rows.Text("name");
    people.push_back(
        {.keyed = {.id = rows.Text("id"),
                   .keys = {EmailKey(rows.View("email")),
                            PhoneKey(rows.View("country_calling_code"), rows.View("phone_number")),
                            NameKey(name)}},
         .name = std::move(name)});
  }
  return people;
}

// Tables and categories.
template <typename Rows>
std::vector<UnpairedRow> Named(Rows rows) {
  std::vector<UnpairedRow> named;
  while (rows.Next()) {
    std::string name = rows.Text("name");
    named.push_back(
        {.keyed = {.id = rows.Text("id"), .keys = {NameKey(name)}}, .name = std::move(name)});
  }
  return named;
}

template <typename Rows>
std::vector<UnpairedRow> Methods(Rows rows) {
  std::vector<UnpairedRow> methods;
  while (rows.Next()) {
    methods.push_back({.keyed = {.id = rows.Text("id"), .keys = {CodeKey(rows.View("code"))}},
                       .name = rows.Text("description")});
  }
  return methods;
}

// One row for each variant, sorted by product.
template <typename Rows>
std::vector<UnpairedRow> Products(Rows rows) {
  std::vector<UnpairedRow> products;
  while (rows.Next()) {
    const std::string_view id = rows.View("id");
    if (products.empty() || products.back().keyed.id != id) {
      std::string name = rows.Text("name");
      products.push_back(
          {.keyed = {.id = std::string(id),
                     .keys = {{}, NameKey(rows.View("category_name"), name), NameKey(name)}},
           .name = std::move(name)});
    }
    if (rows.IsNull("sku")) continue;
    std::ranges::move(SkuKey(rows.View("sku")),
                      std::back_inserter(products.back().keyed.keys.front()));
  }
  return products;
}

constexpr db::Sql kClients = R"sql(
    SELECT c.id AS id, c.name AS name, c.email AS email,
           c.country_calling_code AS country_calling_code, c.phone_number AS phone_number
    FROM client c WHERE c.company_id = $1 AND NOT EXISTS (
      SELECT 1 FROM alias a WHERE a.company_id = $1 AND a.kind = $2 AND a.box_id = c.id)
    ORDER BY c.created_seq
    )sql";
constexpr db::Sql kStaff = R"sql(
    SELECT s.id AS id, s.name AS name, s.email AS email,
           s.country_calling_code AS country_calling_code, s.phone_number AS phone_number
    FROM staff s WHERE s.company_id = $1 AND NOT EXISTS (
      SELECT 1 FROM alias a WHERE a.company_id = $1 AND a.kind = $2 AND a.box_id = s.id)
    ORDER BY s.created_seq
    )sql";
constexpr db::Sql kTables = R"sql(
    SELECT t.id AS id, t.name AS name
    FROM dining_table t WHERE t.company_id = $1 AND NOT EXISTS (
      SELECT 1 FROM alias a WHERE a.company_id = $1 AND a.kind = $2 AND a.box_id = t.id)
    ORDER BY t.name, t.id
    )sql";
constexpr db::Sql kCategories = R"sql(
    SELECT c.id AS id, c.name AS name
    FROM category c WHERE c.company_id = $1 AND NOT EXISTS (
      SELECT 1 FROM alias a WHERE a.company_id = $1 AND a.kind = $2 AND a.box_id = c.id)
    ORDER BY c.position, c.id
    )sql";
constexpr db::Sql kMethods = R"sql(
    SELECT m.id AS id, m.code AS code, m.description AS description
    FROM payment_method m WHERE m.company_id = $1 AND NOT EXISTS (
      SELECT 1 FROM alias a WHERE a.company_id = $1 AND a.kind = $2 AND a.box_id = m.id)
    ORDER BY m.code
    )sql";
constexpr db::Sql kProducts = R"sql(
    SELECT p.id AS id, p.name AS name, c.name AS category_name, v.sku AS sku
    FROM product p
    JOIN category c ON c.company_id = p.company_id AND c.id = p.category_id
    LEFT JOIN variant v ON v.company_id = p.company_id AND v.product_id = p.id
    WHERE p.company_id = $1 AND (NOT EXISTS (
        SELECT 1 FROM alias a WHERE a.company_id = $1 AND a.kind = $2 AND a.box_id = p.id)
      OR EXISTS (
        SELECT 1 FROM cloud_menu m
        WHERE m.company_id = $1 AND m.product_id = p.id AND m.cloud_hash = 'gone'))
    ORDER BY c.position, c.id, p.position, p.id, v.position, v.id
    )sql";

}  // namespace

std::vector<UnpairedRow> Unpaired(db::Session& session, db::CompanyId company, Kind kind) {
  const auto number = static_cast<int64_t>(kind);
  switch (kind) {
    case Kind::kClient:
      return People(session.Query<kClients>(company, number));
    case Kind::kUser:
      return People(session.Query<kStaff>(company, number));
    case Kind::kTable:
      return Named(session.Query<kTables>(company, number));
    case Kind::kCategory:
      return Named(session.Query<kCategories>(company, number));
    case Kind::kPaymentMethod:
      return Methods(session.Query<kMethods>(company, number));
    case Kind::kProduct:
      return Products(session.Query<kProducts>(company, number));
    case Kind::kOrder:
    case Kind::kAddress:
    case Kind::kVariant:
    case Kind::kModifierCategory:
    case Kind::kModifier:
      return {};
  }
  return {};
}

std::map<std::string, std::string> AliasesOf(db::Session& session, db::CompanyId company,
                                             Kind kind) {
  static constexpr db::Sql kAliases =
      R"sql(SELECT box_id, cloud_id FROM alias WHERE company_id = $1 AND kind = $2)sql";
  std::map<std::string, std::string> aliases;
  auto rows = session.Query<kAliases>(company, static_cast<int64_t>(kind));
  while (rows.Next()) aliases.emplace(rows.Text("box_id"), rows.Text("cloud_id"));
  return aliases;
}

std::optional<MenuState> FindMenuState(db::Session& session, db::CompanyId company,
                                       std::string_view product_id) {
  static constexpr db::Sql kState = R"sql(
      SELECT cloud_hash, box_hash FROM cloud_menu WHERE company_id = $1 AND product_id = $2
      )sql";
  const auto row = session.One<kState>(company, product_id);
  if (!row) return std::nullopt;
  MenuState state{.cloud_hash = row->Text("cloud_hash"), .box_hash = row->Text("box_hash")};
  const size_t end = state.box_hash.find(kPushed);
  if (end == std::string::npos) return state;
  const std::string_view at = std::string_view(state.box_hash).substr(end + 1);
  std::from_chars(at.data(), at.data() + at.size(), state.pushed_at);
  state.box_hash.resize(end);
  return state;
}

void PutMenuState(db::Tx& tx, db::CompanyId company, std::string_view product_id,
                  const MenuState& state) {
  if (FindMenuState(tx, company, product_id) == state) return;
  std::string box_hash = state.box_hash;
  if (state.pushed_at != 0) box_hash += Concat({std::string_view(&kPushed, 1), state.pushed_at});
  tx.Run(R"sql(
      INSERT INTO cloud_menu (company_id, product_id, cloud_hash, box_hash) VALUES ($1, $2, $3, $4)
      ON CONFLICT (company_id, product_id)
      DO UPDATE SET cloud_hash = excluded.cloud_hash, box_hash = excluded.box_hash
      )sql",
         company, product_id, state.cloud_hash, box_hash);
}

bool HasHashOfAnotherForm(db::Session& session, db::CompanyId company, std::string_view form) {
  return session.Exists(R"sql(
      SELECT 1 FROM cloud_menu
      WHERE company_id = $1 AND cloud_hash <> '' AND cloud_hash <> $2
        AND substr(cloud_hash, 1, length($3)) <> $3
      )sql",
                        company, kGone, form);
}

void ForgetHashesOfAnotherForm(db::Tx& tx, db::CompanyId company, std::string_view form) {
  tx.Run(R"sql(
      UPDATE cloud_menu SET cloud_hash = ''
      WHERE company_id = $1 AND cloud_hash <> '' AND cloud_hash <> $2
        AND substr(cloud_hash, 1, length($3)) <> $3
      )sql",
         company, kGone, form);
}

std::vector<std::string> AllProducts(db::Session& session, db::CompanyId company) {
  return session.FindTexts(R"sql(SELECT id FROM product WHERE company_id = $1 ORDER BY id)sql",
                           company);
}

std::set<std::string> VisibleProducts(db::Session& session, db::CompanyId company) {
  const std::vector<std::string> ids = session.FindTexts(
      R"sql(SELECT id FROM product WHERE company_id = $1 AND visible = 1)sql", company);
  return {ids.begin(), ids.end()};
}

std::set<std::string> Stations(db::Session& session, db::CompanyId company) {
  const std::vector<std::string> ids =
      session.FindTexts(R"sql(SELECT id FROM station WHERE company_id = $1)sql", company);
  return {ids.begin(), ids.end()};
}

std::map<std::string, Counted> Stocks(db::Session& session, db::CompanyId company) {
  static constexpr db::Sql kStocks =
      R"sql(SELECT id, product_id, stock FROM variant WHERE company_id = $1)sql";
  std::map<std::string, Counted> stocks;
  auto rows = session.Query<kStocks>(company);
  while (rows.Next()) {
    stocks.emplace(rows.Text("id"), Counted{.product_id = rows.Text("product_id"),
                                            .stock = rows.OptionalInt("stock")});
  }
  return stocks;
}

bool CountsStock(db::Session& session, db::CompanyId company) {
  return session.Exists(
      R"sql(SELECT 1 FROM variant WHERE company_id = $1 AND stock IS NOT NULL LIMIT 1)sql",
      company);
}

std::vector<std::string> WaitingMenuRows(db::Session& session, db::CompanyId company) {
  return session.FindTexts(
      R"sql(SELECT row_ids FROM cloud_step WHERE company_id = $1 AND order_id = '')sql", company);
}

bool HasDifference(db::Session& session, db::CompanyId company, DifferenceKind kind,
                   std::string_view cloud, std::string_view detail) {
  return session.Exists(R"sql(
      SELECT 1 FROM cloud_difference
      WHERE company_id = $1 AND order_id = '' AND kind = $2 AND cloud = $3 AND detail = $4 LIMIT 1
      )sql",
                        company, Name(kind), cloud, detail);
}

}  // namespace comanda::cloud::store
