#include "app/import.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "app/embedded.h"
#include "base/file.h"
#include "base/id.h"
#include "base/problem.h"
#include "base/time/zone.h"
#include "clients/clients.h"
#include "company/companies.h"
#include "company/hours.h"
#include "company/json.h"
#include "crypto/derived_id.h"
#include "events/log.h"
#include "events/types.h"
#include "menu/catalogue.h"
#include "menu/json.h"
#include "menu/menu.h"
#include "support/source_dir.h"
#include "support/test_database.h"
#include "users/users.h"

namespace comanda::app {
namespace {

constexpr std::string_view kCaleta = "0192f0a0-0001-7000-8000-000000000001";
constexpr std::string_view kBar = "11111111-0000-7000-8000-000000000001";
constexpr std::string_view kBarFull = R"({"companies": [{
  "id": "11111111-0000-7000-8000-000000000001", "name": "Bar", "country_code": "PE",
  "timezone": "America/Lima", "currency": "PEN",
  "payment_methods": [{"code": "cash"}, {"code": "card", "service_types": ["TABLE", "TAKEAWAY"]}],
  "tables": [{"name": "Mesa 1"}],
  "users": [{"name": "Eva", "role": "rider", "email": "Eva@Example.com"}],
  "clients": [{"name": "Ana Ñu", "country_calling_code": "51", "phone_number": "987-654 321",
               "addresses": [{"address": "Av. Grau 1", "latitude": -12.05, "longitude": -77.5}]}],
  "stations": [{"id": "11111111-0000-7000-8000-00000000000a", "name": "Barra"}],
  "categories": [{"name": "Tragos", "products": [
    {"name": "Agua", "sku": "AGUA", "price": 2.5, "kitchen_id": "11111111-0000-7000-8000-00000000000a"},
    {"name": "Vino", "variants": [{"name": "Copa", "sku": "VC", "price": 12}, {"name": "Botella", "price": 60}],
     "modifier_categories": [{"name": "Hielo", "type": "one", "modifiers": [{"name": "Sin hielo"}]}]}
  ]}]
}]})";

// The full example with one text replaced by another.
std::string BarWith(std::string_view from, std::string_view to) {
  std::string text(kBarFull);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class AppImport : public ::testing::Test {
 protected:
  AppImport() : database(db::Settings{.path = {}, .migrations = Migrations(), .vfs = {}}) {}

  ImportSummary Bring(std::string_view document) { return Import(*database, document); }

  // The number of a kind in the first company's summary.
  static ImportCounts Of(const ImportSummary& summary, std::string_view kind) {
    for (const ImportCounts& counts : summary.companies.at(0).counts) {
      if (counts.kind == kind) return counts;
    }
    ADD_FAILURE() << "no kind " << kind;
    return {};
  }
  static int Written(const ImportSummary& summary) {
    int written = 0;
    for (const CompanySummary& company : summary.companies) {
      for (const ImportCounts& counts : company.counts) written += counts.inserted + counts.updated;
    }
    return written;
  }

  std::vector<FieldError> ErrorsOf(std::string_view document) {
    try {
      Bring(document);
    } catch (const Refusal& refusal) {
      EXPECT_EQ(refusal.problem, Problem::kValidationFailed) << refusal.detail;
      return refusal.errors;
    }
    ADD_FAILURE() << "the import was not refused";
    return {};
  }
  // Of PUT /v1/menu/products for the company that was imported first, in the sandbox.
  std::vector<FieldError> UpsertErrorsOf(std::string_view body) {
    const json::Document document = json::Document::Parse(body);
    return database->Read([&](db::Snapshot& snapshot) {
      const company::Company company = company::Get(snapshot, db::CompanyId{1});
      json::Errors errors;
      const menu::Draft draft = menu::ReadBody({document, json::UnknownFields::kRefused},
                                               menu::kPutProducts, company, 0, errors);
      menu::Check(snapshot, company.company_id, draft, errors);
      try {
        errors.ThrowIfAny();
      } catch (const Refusal& refusal) {
        return refusal.errors;
      }
      ADD_FAILURE() << "the upsert was not refused";
      return std::vector<FieldError>();
    });
  }
  // Exactly this one field is wrong, and nothing was written.
  void ExpectRefused(std::string_view document, std::string_view field, FieldCode code) {
    const std::string before = Everything();
    const std::vector<FieldError> errors = ErrorsOf(document);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].field, field);
    EXPECT_EQ(Name(errors[0].code), Name(code));
    EXPECT_EQ(Everything(), before);
  }

  int64_t Number(db::Sql sql) {
    return database->Read([sql](db::Snapshot& snapshot) { return snapshot.GetInt(sql); });
  }
  std::string Text(db::Sql sql) {
    return database->Read([sql](db::Snapshot& snapshot) { return snapshot.FindText(sql).value(); });
  }
  // Every id with its times: what a second import must not move.
  std::string Everything() {
    return database->Read([](db::Snapshot& snapshot) {
      std::string all;
      for (const db::Sql sql : std::initializer_list<db::Sql>{
               "SELECT id || ' ' || updated_at FROM company ORDER BY id",
               "SELECT id || ' ' || updated_at FROM product ORDER BY company_id, id",
               "SELECT id || ' ' || updated_at FROM client ORDER BY company_id, id",
               "SELECT id || ' ' || updated_at FROM staff ORDER BY company_id, id",
               "SELECT id || ' ' || price FROM variant ORDER BY company_id, id",
               "SELECT id || ' ' || name FROM station ORDER BY company_id, id",
               "SELECT id || ' ' || position FROM modifier ORDER BY company_id, id"}) {
        for (const std::string& row : snapshot.FindTexts(sql)) all += row + "\n";
      }
      return all;
    });
  }
  db::CompanyId Company(std::string_view id) {
    return database->Read(
        [id](db::Snapshot& snapshot) { return company::FindByUuid(snapshot, id)->company_id; });
  }

  testing::TestDatabase database;
};

TEST_F(AppImport, BringsTheDemoRestaurantIn) {
  const ImportSummary summary = Bring(DemoJson());

  ASSERT_EQ(summary.companies.size(), 1u);
  EXPECT_EQ(summary.companies[0].id, kCaleta);
  EXPECT_EQ(summary.companies[0].name, "La Caleta");
  EXPECT_EQ(Of(summary, "companies").inserted, 1);
  EXPECT_EQ(Of(summary, "payment_methods").inserted, 5);
  EXPECT_EQ(Of(summary, "tables").inserted, 20);
  EXPECT_EQ(Of(summary, "users").inserted, 14);
  EXPECT_EQ(Of(summary, "clients").inserted, 25);
  EXPECT_EQ(Of(summary, "stations").inserted, 3);
  EXPECT_EQ(Of(summary, "categories").inserted, 10);
  EXPECT_EQ(Of(summary, "products").inserted, 64);
}

TEST_F(AppImport, ChangesNothingWhenTheDemoRestaurantComesAgain) {
  Bring(DemoJson());
  const std::string before = Everything();
  const db::ChangeCounters::Values counters = database->counters().Of(Company(kCaleta));
  database.clock.Advance(60'000);

  EXPECT_EQ(Written(Bring(DemoJson())), 0);
  EXPECT_EQ(Everything(), before);
  EXPECT_EQ(database->counters().Of(Company(kCaleta)).changes, counters.changes);
}

TEST_F(AppImport, GivesTheDemoRestaurantWhatOrdersNeed) {
  Bring(DemoJson());
  const db::CompanyId id = Company(kCaleta);
  database->Read([&](db::Snapshot& snapshot) {
    const company::Company caleta = company::Get(snapshot, id);
    EXPECT_EQ(caleta.currency, "PEN");
    EXPECT_EQ(caleta.currency_decimals, 2);
    EXPECT_EQ(caleta.timezone, "America/Lima");
    EXPECT_EQ(caleta.country_code, "PE");
    EXPECT_EQ(caleta.latitude, "-12.147201");
    EXPECT_EQ(caleta.day_starts_at, 300);
    // The night from Saturday to Sunday, half past one in Lima.
    EXPECT_TRUE(company::OpenAt(company::ParseHours(caleta.business_hours),
                                *Zone::Find(caleta.timezone),
                                *ParseInstant("2026-11-22T01:30:00-05:00")));

    const auto cash = company::FindPaymentMethodByCode(snapshot, id, "cash");
    ASSERT_TRUE(cash.has_value());
    EXPECT_EQ(cash->service_types, 0b1111u);
    EXPECT_EQ(company::PaymentMethodCodes(snapshot, id),
              (std::vector<std::string>{"card", "cash", "plin", "transfer", "yape"}));
    EXPECT_EQ(company::FindTable(snapshot, id, "0192f0a0-0030-7000-8000-000000000001")->name,
              "Mesa 1");
    EXPECT_FALSE(users::Find(snapshot, id, "0192f0a0-0040-7000-8000-00000000000c")->active);

    const auto client = clients::Find(snapshot, id, "0192f0a0-0050-7000-8000-000000000001");
    ASSERT_TRUE(client.has_value());
    EXPECT_EQ(client->Phone(), "+51987654321");
    const auto address = clients::FindAddress(snapshot, id, "0192f0a0-0060-7000-8000-000000000001");
    ASSERT_TRUE(address.has_value());
    EXPECT_EQ(address->client_id, client->id);

    const auto item = menu::FindSku(snapshot, id, "CEV-CLA-F");
    ASSERT_TRUE(item.has_value());
    EXPECT_EQ(item->product_name, "Ceviche clásico");
    EXPECT_EQ(item->variant_name, "Familiar");
    EXPECT_EQ(item->category_name, "Ceviches");
    EXPECT_EQ(item->kitchen_id, "0192f0a0-0020-7000-8000-000000000001");
  });
  std::set<std::string> roles;
  database->Read([&](db::Snapshot& snapshot) {
    for (std::string& role : snapshot.FindTexts("SELECT role FROM staff")) roles.insert(role);
  });
  EXPECT_EQ(roles.size(), 7u);
}

TEST_F(AppImport, BringsTheExampleOfItsDescriptionIn) {
  const std::string description = *ReadFile(testing::SourceDirectory() + "/src/app/IMPORT.md");
  const size_t begin = description.find("```json\n") + 8;
  const ImportSummary summary =
      Bring(description.substr(begin, description.find("```", begin) - begin));
  EXPECT_EQ(Of(summary, "products").inserted, 2);
  EXPECT_EQ(Of(summary, "variants").inserted, 3);
  EXPECT_EQ(Of(summary, "addresses").inserted, 1);
}

TEST_F(AppImport, DerivesIdsFromTheCompanyAndTheNaturalKey) {
  const ImportSummary summary = Bring(kBarFull);

  EXPECT_EQ(Of(summary, "products").inserted, 2);
  EXPECT_EQ(Text("SELECT id FROM payment_method WHERE code = 'cash'"),
            crypto::DerivedId(kBar, "payment_method:cash"));
  EXPECT_EQ(Text("SELECT id FROM staff"), crypto::DerivedId(kBar, "user:email:eva@example.com"));
  EXPECT_EQ(Text("SELECT id FROM client"), crypto::DerivedId(kBar, "client:phone:+51987654321"));
  EXPECT_EQ(Text("SELECT id FROM product WHERE name = 'Agua'"),
            crypto::DerivedId(kBar, "product:sku:AGUA"));
  EXPECT_EQ(Text("SELECT id FROM variant WHERE name = 'Copa'"),
            crypto::DerivedId(kBar, "variant:sku:VC"));
  EXPECT_EQ(Text("SELECT id FROM dining_table"), crypto::DerivedId(kBar, "table:mesa 1"));
  EXPECT_EQ(Written(Bring(kBarFull)), 0);
}

TEST_F(AppImport, DerivesTheIdOfACompanyFromItsNameAndCountry) {
  const std::string text =
      R"({"companies": [{"name": "Bar", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN"}]})";
  const ImportSummary first = Bring(text);
  const ImportSummary second = Bring(text);

  EXPECT_EQ(first.companies[0].id, second.companies[0].id);
  EXPECT_EQ(Of(second, "companies").unchanged, 1);
}

TEST_F(AppImport, GivesAProductOfOnePriceOneVariantNamedDefault) {
  Bring(kBarFull);
  database->Read([&](db::Snapshot& snapshot) {
    const auto item = menu::FindSku(snapshot, db::CompanyId{1}, "AGUA");
    EXPECT_EQ(item->variant_name, "Default");
    EXPECT_EQ(menu::FindProduct(snapshot, db::CompanyId{1}, item->product_id)->variant_id,
              item->variant_id);
  });
  EXPECT_EQ(Number("SELECT price FROM variant WHERE sku = 'AGUA'"), 250);
}

TEST_F(AppImport, FindsNoVariantForAProductWithSeveral) {
  Bring(kBarFull);
  const std::string wine = Text("SELECT id FROM product WHERE name = 'Vino'");
  const std::string ice = Text("SELECT id FROM modifier");
  const std::string water = Text("SELECT id FROM product WHERE name = 'Agua'");
  database->Read([&](db::Snapshot& snapshot) {
    const auto item = menu::FindProduct(snapshot, db::CompanyId{1}, wine);
    EXPECT_TRUE(item.has_value());
    EXPECT_FALSE(item->variant_id.has_value());
    EXPECT_EQ(menu::FindModifier(snapshot, db::CompanyId{1}, wine, ice)->name, "Sin hielo");
    EXPECT_FALSE(menu::FindModifier(snapshot, db::CompanyId{1}, water, ice).has_value());
  });
}

TEST_F(AppImport, ReadsMoneyInTheCurrencysDecimals) {
  const std::string pesos = R"({"companies": [{"name": "Bar", "country_code": "CL",
    "timezone": "America/Santiago", "currency": "CLP",
    "categories": [{"name": "A", "products": [{"name": "B", "price": 5500}]}]}]})";
  Bring(pesos);
  EXPECT_EQ(Number("SELECT price FROM variant"), 5500);

  std::string cents = pesos;
  cents.replace(cents.find("5500"), 4, "5500.5");
  ExpectRefused(cents, "companies[0].categories[0].products[0].price", FieldCode::kTooManyDecimals);
}

TEST_F(AppImport, UpdatesOnlyWhatDiffers) {
  Bring(kBarFull);
  database.clock.Advance(60'000);
  const ImportSummary summary = Bring(BarWith("\"price\": 60", "\"price\": 65"));

  EXPECT_EQ(Of(summary, "variants").updated, 1);
  EXPECT_EQ(Of(summary, "variants").unchanged, 2);
  EXPECT_EQ(Of(summary, "products").updated, 1);
  EXPECT_EQ(Written(summary), 2);
  // The variant is part of the product's record, the water's record stays.
  EXPECT_EQ(Number("SELECT updated_at - created_at FROM product WHERE name = 'Vino'"), 60'000);
  EXPECT_EQ(Number("SELECT updated_at - created_at FROM product WHERE name = 'Agua'"), 0);
}

TEST_F(AppImport, RaisesTheCountersOfWhatChangedAlone) {
  using events::Counter;
  const auto of = [this](Counter counter) {
    return database->counters().Of(db::CompanyId{1}).changes[static_cast<size_t>(counter)];
  };
  Bring(kBarFull);
  EXPECT_EQ(of(Counter::kOrders), 0);
  const int64_t catalogue = of(Counter::kCatalogue);
  const int64_t other = of(Counter::kOther);
  EXPECT_GT(catalogue, 0);
  EXPECT_GT(other, 0);

  Bring(BarWith("\"price\": 60", "\"price\": 65"));
  EXPECT_EQ(of(Counter::kCatalogue), catalogue + 1);
  EXPECT_EQ(of(Counter::kOther), other);

  Bring(BarWith("Ana Ñu", "Ana Ñusta"));
  EXPECT_EQ(of(Counter::kOther), other + 1);
  EXPECT_EQ(of(Counter::kOrders), 0);
  EXPECT_EQ(Number("SELECT other_changes FROM company_counter"), other + 1);
}

TEST_F(AppImport, WritesOneEventOfTheProductsThatChanged) {
  Bring(kBarFull);
  EXPECT_EQ(Number("SELECT count(*) FROM event"), 0) << "nobody can have followed a new company";

  Bring(BarWith("\"price\": 60", "\"price\": 65"));
  const std::string wine = Text("SELECT id FROM product WHERE name = 'Vino'");
  EXPECT_EQ(Text("SELECT group_concat(type || ' ' || subject_id || ' ' || changes) FROM event"),
            "PRODUCT_UPDATED  fields");
  EXPECT_EQ(Text("SELECT body FROM event"), R"({"created":[],"updated":[")" + wine + "\"]}");

  Bring(BarWith("\"price\": 60", "\"price\": 65"));
  Bring(BarWith("Ana Ñu", "Ana Ñusta"));
  EXPECT_EQ(Number("SELECT count(*) FROM event"), 2)
      << "the price came back with the client's name";
}

TEST_F(AppImport, WritesThatProductsWereCreatedWhereAllWere) {
  Bring(kBarFull);
  Bring(R"({"companies": [{"id": "11111111-0000-7000-8000-000000000001", "name": "Bar",
            "country_code": "PE", "timezone": "America/Lima", "currency": "PEN",
            "categories": [{"name": "Tragos", "products": [{"name": "Ron", "price": 9}]}]}]})");
  const std::string rum = Text("SELECT id FROM product WHERE name = 'Ron'");
  EXPECT_EQ(Text("SELECT group_concat(type || changes) FROM event"), "PRODUCT_CREATED");
  EXPECT_EQ(Text("SELECT body FROM event"), R"({"created":[")" + rum + R"("],"updated":[]})");
}

TEST_F(AppImport, KeepsRowsThatTheFileLeavesOut) {
  Bring(kBarFull);
  Bring(R"({"companies": [{"id": "11111111-0000-7000-8000-000000000001", "name": "Bar",
            "country_code": "PE", "timezone": "America/Lima", "currency": "PEN"}]})");
  EXPECT_EQ(Number("SELECT count(*) FROM product"), 2);
  EXPECT_EQ(Number("SELECT count(*) FROM client"), 1);
}

TEST_F(AppImport, KeepsTheCountedStockWhereTheFileSaysNone) {
  Bring(BarWith("\"sku\": \"AGUA\",", "\"sku\": \"AGUA\", \"stock\": 5.5,"));
  EXPECT_EQ(Number("SELECT stock FROM variant WHERE sku = 'AGUA'"), 5500);
  EXPECT_EQ(Written(Bring(kBarFull)), 0);
  EXPECT_EQ(Number("SELECT stock FROM variant WHERE sku = 'AGUA'"), 5500);
}

TEST_F(AppImport, LetsTwoVariantsSwapTheirSkus) {
  const std::string text = R"({"companies": [{"id": "11111111-0000-7000-8000-000000000001",
    "name": "Bar", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN",
    "categories": [{"name": "A", "products": [{"name": "B", "variants": [
      {"id": "11111111-0000-7000-8000-00000000000b", "name": "x", "sku": "ONE", "price": 1},
      {"id": "11111111-0000-7000-8000-00000000000c", "name": "y", "sku": "TWO", "price": 1}]}]}]}]})";
  Bring(text);
  std::string swapped = text;
  swapped.replace(swapped.find("ONE"), 3, "TWO");
  swapped.replace(swapped.rfind("TWO"), 3, "ONE");

  EXPECT_EQ(Of(Bring(swapped), "variants").updated, 2);
  EXPECT_EQ(Text("SELECT name FROM variant WHERE sku = 'TWO'"), "x");
  EXPECT_EQ(Text("SELECT name FROM variant WHERE sku = 'ONE'"), "y");

  std::string without = swapped;
  without.replace(without.find("\"sku\": \"TWO\", "), 14, "");
  EXPECT_EQ(Of(Bring(without), "variants").updated, 1);
  EXPECT_EQ(Number("SELECT count(*) FROM variant WHERE sku IS NULL"), 1);
}

TEST_F(AppImport, RefusesASkuThatAStoredVariantHas) {
  Bring(kBarFull);
  ExpectRefused(R"({"companies": [{"id": "11111111-0000-7000-8000-000000000001", "name": "Bar",
                    "country_code": "PE", "timezone": "America/Lima", "currency": "PEN",
                    "categories": [{"name": "A", "products": [
                      {"id": "11111111-0000-7000-8000-0000000000ff", "name": "B", "sku": "VC", "price": 1}]}]}]})",
                "companies[0].categories[0].products[0].sku", FieldCode::kSkuTaken);
}

TEST_F(AppImport, InsertsARowWhoseIdOnlyAnotherCompanyHas) {
  Bring(kBarFull);
  std::string other(kBarFull);
  other.replace(other.find(kBar), kBar.size(), "22222222-0000-7000-8000-000000000002");
  const ImportSummary summary = Bring(other);

  EXPECT_EQ(Of(summary, "companies").inserted, 1);
  EXPECT_EQ(Of(summary, "stations").inserted, 1);
  EXPECT_EQ(
      Number("SELECT count(*) FROM station WHERE id = '11111111-0000-7000-8000-00000000000a'"), 2);
  EXPECT_EQ(Number("SELECT count(*) FROM company_counter"), 2);
}

TEST_F(AppImport, NamesTheFieldAndItsLine) {
  const std::vector<FieldError> errors = ErrorsOf(
      "{\"companies\": [\n{\"name\": \"A\", \"country_code\": \"PE\",\n"
      "\"timezone\": \"America/Lyma\", \"currency\": \"PEN\"}]}");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].field, "companies[0].timezone");
  EXPECT_TRUE(errors[0].message.ends_with("(line 3)")) << errors[0].message;
}

TEST_F(AppImport, RefusesCardNumbersInEveryFreeText) {
  const std::string card = "4111 1111 1111 1111";
  for (const auto& [from, to, field] : std::vector<std::array<std::string, 3>>{
           {"\"Ana Ñu\"", "\"Ana " + card + "\"", "clients[0].name"},
           {"Av. Grau 1", card, "clients[0].addresses[0].address"},
           {"\"latitude\"", "\"reference\": \"visa " + card + "\", \"latitude\"",
            "clients[0].addresses[0].reference"},
           {"\"addresses\"", "\"notes\": \"" + card + "\", \"addresses\"", "clients[0].notes"},
           {"\"Eva\"", "\"4111111111111111\"", "users[0].name"},
           {"\"Mesa 1\"", "\"" + card + "\"", "tables[0].name"},
           {"\"Agua\"", "\"" + card + "\"", "categories[0].products[0].name"},
       }) {
    ExpectRefused(BarWith(from, to), "companies[0]." + field, FieldCode::kLooksLikeCardNumber);
  }
  for (const FieldError& error : ErrorsOf(BarWith("\"Eva\"", "\"4111111111111111\""))) {
    EXPECT_NE(error.message.find("(line 6)"), std::string::npos) << error.message;
    EXPECT_EQ(error.message.find("4111"), std::string::npos) << error.message;
  }
}

TEST_F(AppImport, TakesNoNumberOfItsOwnForACardNumber) {
  Bring(BarWith("\"AGUA\"", "\"4111111111111111\""));
  Bring(BarWith("\"addresses\"", "\"document_number\": \"4111111111111111\", \"addresses\""));
  Bring(BarWith("\"Vino\",", "\"Vino\", \"image_url\": \"https://x.example/4111111111111111\","));
}

TEST_F(AppImport, NamesEveryWrongFieldAtOnce) {
  const std::vector<FieldError> errors = ErrorsOf(R"({"companies": [{
    "name": "", "country_code": "pe", "timezone": "America/Lima", "currency": "SOL", "language": "es-PE",
    "business_hours": {"monday": {"hours": [{"open": "25:00", "close": "10:00"}]}},
    "users": [{"name": "Eva", "role": "boss", "phone_number": "987654321"}],
    "clients": [{"name": "Ana", "email": "ana", "addresses": [{"address": "x", "latitude": 95, "longitude": 1}]}],
    "categories": [{"name": "A", "products": [{"name": "B"}]}]}]})");
  std::vector<std::string> fields;
  for (const FieldError& error : errors) fields.push_back(error.field);
  EXPECT_EQ(fields,
            (std::vector<std::string>{
                "companies[0].name", "companies[0].country_code", "companies[0].currency",
                "companies[0].language", "companies[0].business_hours.monday.hours[0].open",
                "companies[0].users[0].country_calling_code", "companies[0].users[0].role",
                "companies[0].clients[0].email", "companies[0].clients[0].addresses[0].latitude",
                "companies[0].categories[0].products[0].price"}));
}

TEST_F(AppImport, NamesAtMostFiftyWrongFields) {
  std::string rows;
  for (int i = 0; i < 60; ++i) rows += R"({"price": 1},)";
  rows.pop_back();
  EXPECT_EQ(
      ErrorsOf(
          R"({"companies": [{"name": "A", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN",
                        "categories": [{"name": "A", "products": [)" +
          rows + "]}]}]}")
          .size(),
      kFieldErrorsMax);
}

TEST_F(AppImport, WritesNothingOfAFileWhereOneCompanyIsWrong) {
  ExpectRefused(R"({"companies": [
      {"name": "A", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN"},
      {"name": "B", "country_code": "PE", "timezone": "Lima", "currency": "PEN"}]})",
                "companies[1].timezone", FieldCode::kUnknownValue);
}

TEST_F(AppImport, RefusesAnUnknownFieldWithTheNearestName) {
  const std::vector<FieldError> errors = ErrorsOf(BarWith("\"service_types\"", "\"service_type\""));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].field, "companies[0].payment_methods[1].service_type");
  EXPECT_EQ(errors[0].code, FieldCode::kUnknownField);
  EXPECT_NE(errors[0].message.find("service_types"), std::string::npos);
}

TEST_F(AppImport, RefusesWhatStandsInTheFileTwice) {
  ExpectRefused(BarWith(R"({"code": "card",)", R"({"code": "cash",)"),
                "companies[0].payment_methods[1].code", FieldCode::kDuplicate);
  ExpectRefused(BarWith(R"("sku": "VC")", R"("sku": "AGUA")"),
                "companies[0].categories[0].products[1].variants[0].sku", FieldCode::kDuplicate);
  ExpectRefused(BarWith(R"({"name": "Mesa 1"})", R"({"name": "Mesa 1"}, {"name": "MESA 1"})"),
                "companies[0].tables[1].name", FieldCode::kDuplicate);
  ExpectRefused(
      R"({"companies": [{"name": "A", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN"},
                                  {"name": "a", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN"}]})",
      "companies[1].id", FieldCode::kDuplicate);
}

TEST_F(AppImport, RefusesAPriceBesideVariants) {
  ExpectRefused(BarWith(R"("name": "Vino",)", R"("name": "Vino", "price": 3,)"),
                "companies[0].categories[0].products[1].price", FieldCode::kNotAllowed);
}

TEST_F(AppImport, RefusesAKitchenThatIsNoStation) {
  ExpectRefused(BarWith(R"("kitchen_id": "11111111-0000-7000-8000-00000000000a")",
                        R"("kitchen_id": "11111111-0000-7000-8000-0000000000ee")"),
                "companies[0].categories[0].products[0].kitchen_id", FieldCode::kNotFound);
}

// Product rows with a field each that is wrong, and what is said of it below "products". A request
// names their category in each row, a file above them.
TEST_F(AppImport, WritesNothingOfAFileWhoseSecondCompanyDoesNotFitWhatIsStored) {
  const std::string two = R"({"companies": [
      {"name": "A", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN"},
      {"name": "B", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN"}]})";
  Bring(two);
  std::string other = two;
  other.replace(other.find("Lima"), 4, "Bogota");
  other.replace(other.rfind("PEN"), 3, "USD");

  const std::vector<FieldError> errors = ErrorsOf(other);

  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].field, "companies[1].currency");
  EXPECT_EQ(Number("SELECT count(*) FROM company WHERE timezone = 'America/Lima'"), 2);
}

TEST_F(AppImport, WantsToHearThatACompanyWithoutAnIdIsNew) {
  const std::string one =
      R"({"companies": [{"name": "A", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN"}]})";
  const ImportSummary first = Bring(one);
  std::string renamed = one;
  renamed.replace(renamed.find("\"A\""), 3, "\"B\"");

  const std::vector<FieldError> errors = ErrorsOf(renamed);

  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].field, "companies[0].id");
  EXPECT_NE(errors[0].message.find(first.companies[0].id), std::string::npos);
  EXPECT_EQ(Number("SELECT count(*) FROM company"), 1);

  Import(*database, renamed, NewCompanies::kTaken);
  EXPECT_EQ(Number("SELECT count(*) FROM company"), 2);
  EXPECT_EQ(Written(Bring(renamed)), 0);
}

struct WrongRows {
  std::vector<std::string> rows;
  std::string field;
  FieldCode code;
};

std::vector<WrongRows> EveryWrongRow() {
  const std::string id = R"("id": "11111111-0000-7000-8000-0000000000a1")";
  const std::string fine = id + R"(, "name": "B", "price": 1)";
  const std::string modifiers = fine + R"(, "modifier_categories": )";
  const std::string variants = id + R"(, "name": "B", "variants": )";
  std::string many;
  for (int i = 0; i <= 100; ++i) {
    many += (i == 0 ? "" : ",") + std::string(R"({"name": "v)") + std::to_string(i) +
            R"(", "price": 1})";
  }
  const std::string name = "[0].name", price = "[0].price", group = "[0].modifier_categories[0]";
  return {
      {{id + R"(, "price": 1)"}, name, FieldCode::kRequired},
      {{id + R"(, "price": 1, "name": "")"}, name, FieldCode::kEmpty},
      {{id + R"(, "price": 1, "name": 5)"}, name, FieldCode::kWrongType},
      {{id + R"(, "price": 1, "name": "4111 1111 1111 1111")"},
       name,
       FieldCode::kLooksLikeCardNumber},
      {{id + R"(, "name": "B")"}, price, FieldCode::kRequired},
      {{id + R"(, "name": "B", "price": "1")"}, price, FieldCode::kWrongType},
      {{id + R"(, "name": "B", "price": -1)"}, price, FieldCode::kMustNotBeNegative},
      {{id + R"(, "name": "B", "price": 1.005)"}, price, FieldCode::kTooManyDecimals},
      {{R"("id": "b", "name": "B", "price": 1)"}, "[0].id", FieldCode::kInvalidFormat},
      {{fine + R"(, "visible": 1)"}, "[0].visible", FieldCode::kWrongType},
      {{fine + R"(, "colour": "red")"}, "[0].colour", FieldCode::kUnknownField},
      {{fine + R"(, "stock": 0.0001)"}, "[0].stock", FieldCode::kTooManyDecimals},
      {{fine + R"(, "kitchen_id": "x")"}, "[0].kitchen_id", FieldCode::kInvalidFormat},
      {{fine + R"(, "kitchen_id": "11111111-0000-7000-8000-0000000000ee")"},
       "[0].kitchen_id",
       FieldCode::kNotFound},
      {{R"("id": ")" + crypto::DerivedId(kBar, "product:sku:AGUA") +
        R"(", "name": "Agua", "price": 1, "sku": "VC")"},
       "[0].sku",
       FieldCode::kSkuTaken},
      {{fine + R"(, "sku": "N")", R"("sku": "N", "name": "C", "price": 1)"},
       "[1].sku",
       FieldCode::kDuplicate},
      {{fine, fine}, "[1].id", FieldCode::kDuplicate},
      {{fine + R"(, "variants": [{"name": "x", "price": 1}])"}, price, FieldCode::kNotAllowed},
      {{variants + "[]"}, "[0].variants", FieldCode::kEmpty},
      {{variants + "[" + many + "]"}, "[0].variants", FieldCode::kTooManyItems},
      {{variants + R"([{"price": 1}])"}, "[0].variants[0].name", FieldCode::kRequired},
      {{variants + R"([{"name": "x"}])"}, "[0].variants[0].price", FieldCode::kRequired},
      {{variants + R"([{"name": "x", "price": 1}, {"name": " X", "price": 1}])"},
       "[0].variants[1].name",
       FieldCode::kDuplicate},
      {{variants + "[{" + fine + "}]",
        R"("id": "11111111-0000-7000-8000-0000000000a2", "name": "C", "variants": [{)" + fine +
            "}]"},
       "[1].variants[0].id",
       FieldCode::kDuplicate},
      {{modifiers + R"([{"modifiers": []}])"}, group + ".name", FieldCode::kRequired},
      {{modifiers + R"([{"name": "x", "type": "two"}])"},
       group + ".type",
       FieldCode::kUnknownValue},
      {{modifiers + R"([{"name": "x", "min_modifiers": 3, "max_modifiers": 2}])"},
       group + ".max_modifiers",
       FieldCode::kOutOfRange},
      {{modifiers + R"([{"name": "x", "type": "one", "min_modifiers": 2}])"},
       group + ".min_modifiers",
       FieldCode::kOutOfRange},
      {{modifiers + R"([{"name": "x", "min_modifiers": 1, "modifiers": []}])"},
       group + ".min_modifiers",
       FieldCode::kOutOfRange},
      {{modifiers +
        R"([{"name": "x", "modifiers": [{"name": "y", "sku": "A"}, {"name": "z", "sku": "a "}]}])"},
       group + ".modifiers[1].sku",
       FieldCode::kDuplicate},
      {{modifiers + R"([{"name": "x", "modifiers": [{"name": "y", "max_limit": 0}]}])"},
       group + ".modifiers[0].max_limit",
       FieldCode::kMustBePositive},
  };
}

TEST_F(AppImport, RefusesTheSameRowsAsTheBulkUpsertWithTheSameFieldAndCode) {
  Bring(kBarFull);
  const auto list = [](const std::vector<std::string>& rows, const std::string& first) {
    std::string text;
    for (const std::string& row : rows) {
      text += (text.empty() ? "{" : ", {") + first + row + "}";
    }
    return R"("products": [)" + text + "]";
  };
  for (const WrongRows& wrong : EveryWrongRow()) {
    SCOPED_TRACE(wrong.rows.back());
    ExpectRefused(R"({"companies": [{"id": "11111111-0000-7000-8000-000000000001", "name": "Bar",
        "country_code": "PE", "timezone": "America/Lima", "currency": "PEN",
        "categories": [{"name": "Tragos", )" +
                      list(wrong.rows, "") + "}]}]}",
                  "companies[0].categories[0].products" + wrong.field, wrong.code);
    const std::vector<FieldError> errors =
        UpsertErrorsOf("{" + list(wrong.rows, R"("category_name": "Tragos", )") + "}");
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].field, "products" + wrong.field);
    EXPECT_EQ(Name(errors[0].code), Name(wrong.code));
  }
}

TEST_F(AppImport, RefusesGroupsOfOneNameWithoutIdsWhichTheBulkUpsertMatchesByTheirOrder) {
  ExpectRefused(R"({"companies": [{"name": "Bar", "country_code": "PE", "timezone": "America/Lima",
      "currency": "PEN", "categories": [{"name": "Tragos", "products": [{"name": "B", "price": 1,
      "modifier_categories": [{"name": "x"}, {"name": "X"}]}]}]}]})",
                "companies[0].categories[0].products[0].modifier_categories[1].name",
                FieldCode::kDuplicate);
}

TEST_F(AppImport, CountsStoredRowsAmongThoseThatAProductMayHave) {
  const auto with_variants = [](int first, int last) {
    std::string rows;
    for (int i = first; i < last; ++i) {
      rows += (rows.empty() ? "" : ",") + std::string(R"({"name": "v)") + std::to_string(i) +
              R"(", "price": 1})";
    }
    return BarWith(
        R"({"name": "Copa", "sku": "VC", "price": 12}, {"name": "Botella", "price": 60})", rows);
  };
  Bring(with_variants(0, 100));
  ExpectRefused(with_variants(100, 101), "companies[0].categories[0].products[1].variants",
                FieldCode::kTooManyItems);
}

TEST_F(AppImport, WritesNoCompanyWhereTheMenuOfAnotherIsWrong) {
  std::string text(kBarFull);
  const std::string other =
      R"({"name": "B", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN",
      "categories": [{"name": "A", "products": [
        {"name": "x", "price": 1, "kitchen_id": "11111111-0000-7000-8000-0000000000ee"}]}]}, )";
  text.insert(text.find("[{") + 1, other);
  ExpectRefused(text, "companies[0].categories[0].products[0].kitchen_id", FieldCode::kNotFound);
}

TEST_F(AppImport, MovesRowsBelowTheParentThatTheFileGivesThem) {
  const std::string ice = R"({"id": "11111111-0000-7000-8000-0000000000b1", "name": "Hielo",
      "modifiers": [{"id": "11111111-0000-7000-8000-0000000000b2", "name": "Poco", "price": 1}%s]})";
  const auto menu = [](const std::string& water, const std::string& wine) {
    return R"({"companies": [{"id": "11111111-0000-7000-8000-000000000001", "name": "Bar",
        "country_code": "PE", "timezone": "America/Lima", "currency": "PEN",
        "categories": [{"name": "Tragos", "products": [
          {"name": "Agua", "price": 1, "modifier_categories": [)" +
           water + R"(]}, {"name": "Vino", "price": 9, "modifier_categories": [)" + wine +
           "]}]}]}]}";
  };
  const auto with = [&](const std::string& more) {
    std::string text = ice;
    return text.replace(text.find("%s"), 2, more);
  };
  const std::string lemon =
      R"({"id": "11111111-0000-7000-8000-0000000000b3", "name": "Limón", "price": 2})";
  Bring(menu(with(", " + lemon), ""));
  database.clock.Advance(60'000);

  const ImportSummary summary = Bring(menu("", with("")));

  EXPECT_EQ(Of(summary, "modifier_categories").updated, 1);
  EXPECT_EQ(Of(summary, "modifiers").updated, 1);
  EXPECT_EQ(Of(summary, "products").updated, 2) << "one has a category more, one less";
  EXPECT_EQ(Text(R"(SELECT group_concat(p.name) FROM modifier m JOIN product p
                    ON p.id = m.product_id)"),
            "Vino,Vino")
      << "the modifier that the file leaves out comes along with its category";
  EXPECT_EQ(Number("SELECT count(*) FROM product WHERE updated_at > created_at"), 2);
  EXPECT_EQ(Written(Bring(menu("", with("")))), 0);

  const std::string sauces = R"({"name": "Salsas", "modifiers": [)" + lemon + "]}";
  EXPECT_EQ(Of(Bring(menu(sauces, with(""))), "modifiers").updated, 1);
  EXPECT_EQ(Text(R"(SELECT p.name || mc.name FROM modifier m
                    JOIN modifier_category mc ON mc.id = m.modifier_category_id
                    JOIN product p ON p.id = m.product_id WHERE m.name = 'Limón')"),
            "AguaSalsas");
}

TEST_F(AppImport, RefusesServiceTypesThatAreNone) {
  ExpectRefused(BarWith(R"(["TABLE", "TAKEAWAY"])", R"(["TABLE", "takeaway"])"),
                "companies[0].payment_methods[1].service_types", FieldCode::kUnknownValue);
}

TEST_F(AppImport, RefusesAnotherCurrencyForAStoredCompany) {
  Bring(kBarFull);
  ExpectRefused(BarWith("\"PEN\"", "\"USD\""), "companies[0].currency", FieldCode::kNotAllowed);
}

TEST_F(AppImport, RefusesAFileWithoutCompanies) {
  ExpectRefused("{}", "companies", FieldCode::kRequired);
  ExpectRefused(R"({"companies": []})", "companies", FieldCode::kEmpty);
  ExpectRefused("[]", "body", FieldCode::kWrongType);
  EXPECT_THROW(Bring("not JSON"), Refusal);
}

TEST_F(AppImport, NumbersTheOrdersOfABusinessDayFromOne) {
  Bring(DemoJson());
  const db::CompanyId id = Company(kCaleta);
  std::pair<UtcMs, UtcMs> asked_between;
  std::string business_day;
  const auto at = [](std::string_view local) {
    return *ParseInstant(std::string(local) + "-05:00");
  };
  const auto take = [&](std::string_view local, int64_t last = 0) {
    return database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      events::HeldCounters counters(tx, id);
      const company::OrderNumber taken = company::TakeOrderNumber(
          counters, company::Get(tx, id), at(local), [&](UtcMs begin, UtcMs end) {
            asked_between = {begin, end};
            return last;
          });
      counters.Append(stamp, {.company_uuid = kCaleta,
                              .type = events::Type::kOrderCreated,
                              .changes = {},
                              .subject_id = "an order",
                              .body = "{}"});
      business_day = taken.business_day;
      return taken.number;
    });
  };
  EXPECT_EQ(take("2026-11-20T20:00:00"), 1);
  EXPECT_EQ(take("2026-11-21T01:00:00"), 2);  // the day begins at five
  EXPECT_EQ(take("2026-11-21T04:59:59"), 3);
  EXPECT_EQ(business_day, "2026-11-20");
  EXPECT_EQ(take("2026-11-21T05:00:00"), 1);
  EXPECT_EQ(business_day, "2026-11-21");

  EXPECT_EQ(take("2026-11-20T21:00:00", 3), 4) << "a day that has numbers already";
  EXPECT_EQ(asked_between, std::pair(at("2026-11-20T05:00:00"), at("2026-11-21T05:00:00")));
  EXPECT_EQ(take("2026-11-20T21:00:01"), 5);
}

TEST_F(AppImport, CountsTheOrdersOfAClient) {
  Bring(kBarFull);
  const std::string id = Text("SELECT id FROM client");
  const auto before = database->counters().Of(db::CompanyId{1}).changes;
  database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
    clients::NoteOrder(tx, db::CompanyId{1}, id, stamp.now, stamp);
  });

  EXPECT_EQ(Number("SELECT orders_count FROM client"), 1);
  EXPECT_EQ(Number("SELECT last_order_at - updated_at FROM client"), 0);
  EXPECT_GT(database->counters().Of(db::CompanyId{1}).changes[2], before[2]);
  EXPECT_EQ(Written(Bring(kBarFull)), 0);
}

TEST(AppMigrations, AreNumberedWithoutAGap) {
  int number = 0;
  for (const db::Migration& migration : Migrations()) {
    EXPECT_EQ(migration.number, ++number);
    EXPECT_FALSE(migration.sql.empty());
  }
  EXPECT_GE(number, 1);
}

}  // namespace
}  // namespace comanda::app
