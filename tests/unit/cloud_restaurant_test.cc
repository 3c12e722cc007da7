#include "cloud/restaurant/restaurant.h"

#include <gtest/gtest.h>

#include "app/embedded.h"
#include "cloud/orders/pending.h"
#include "company/companies.h"
#include "orders/orders.h"
#include "support/listed_cloud.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using testing::CloudAnswer;
using testing::kCompany;
using testing::kCompanyId;
using testing::LinkedBox;
using testing::ListOf;
using testing::MenuOf;

using Texts = std::vector<std::string>;

constexpr db::Sql kClientNames = "SELECT name FROM client WHERE company_id = 1 ORDER BY name, id";

// A product of one variant.
std::string ProductOf(std::string_view id, std::string_view name, std::string_view price,
                      std::string_view more = "") {
  return Concat({R"({"id":")", id, R"(","name":")", name,
                 R"(","visible":true,"variants":[{"id":"v-)", id, R"(","name":"Default","price":)",
                 price, more, "}]}"});
}

std::string CategoryOf(std::string_view products, std::string_view id = "cat",
                       std::string_view name = "Platos") {
  return Concat({R"({"id":")", id, R"(","name":")", name, R"(","products":[)", products, "]}"});
}

std::string ClientOf(int number, std::string_view more = "") {
  return Concat({R"({"id":"k)", number, R"(","name":"Cliente )", number, R"(")", more, "}"});
}

class CloudRestaurant : public ::testing::Test {
 protected:
  // The menu with these products in one category.
  void ShowMenu(std::string_view products) {
    box.there.bodies["/v1/menu"] = MenuOf(CategoryOf(products));
  }
  menu::Product Product(std::string_view cloud_id) {
    return box.Product(box.BoxId(Kind::kProduct, cloud_id));
  }

  // An order of this box with these rows, of a variant or by the sku "L"; the row with that index
  // is cancelled.
  struct Sold {
    std::string variant_id;
    int64_t quantity = 0;
  };
  void Sell(const std::string& id, const std::vector<Sold>& rows, std::optional<size_t> cancelled) {
    box.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      const std::string number = "100000000" + id.substr(id.size() - 1);
      orders::Place(tx, company::Get(tx, kCompany), {},
                    {.id = id,
                     .public_numbers = {number},
                     .reference = id,
                     .fingerprint = "f",
                     .actor = "key:till"},
                    stamp);
      std::vector<orders::Combo> combos;
      for (const Sold& row : rows) {
        orders::Combo combo{.id = id + std::to_string(combos.size()), .product_name = "Lomo"};
        if (row.variant_id.empty()) {
          combo.sku = "L";
        } else {
          combo.variant_id = row.variant_id;
        }
        combo.quantity = row.quantity;
        combos.push_back(combo);
      }
      orders::AddCombos(tx, TargetOf(id), combos, stamp);
      if (cancelled) orders::CancelCombo(tx, TargetOf(id), combos[*cancelled].id, stamp);
    });
  }
  static orders::Target TargetOf(const std::string& id) {
    return {.company = kCompany, .key = id, .actor = "key:till"};
  }
  void Compare(const std::string& id) {
    box.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      const auto compared = CompareOrder(tx, kCompany, id, {}, Makes::kCreation);
      if (compared) StoreCompared(tx, kCompany, *compared, {}, Makes::kCreation, stamp);
    });
  }

  LinkedBox box;
};

// A second Comanda as the cloud: the demo restaurant as company kCompany.

// Large answers are not in `body` alone.
std::string BodyOf(const testing::Answer& answer) { return std::string(answer.response.Body()); }

std::string Without(std::string text, std::string_view member) {
  const std::string start = Concat({"\"", member, "\":"});
  for (size_t at = text.find(start); at != text.npos; at = text.find(start, at + 1)) {
    const size_t value = at + start.size();
    const size_t end =
        text[value] == '"' ? text.find('"', value + 1) + 1 : text.find_first_of(",}", value);
    text.erase(value, end - value);
  }
  return text;
}

class ComandaCloud {
 public:
  ComandaCloud() {
    api.key = "local";
    std::string demo(app::DemoJson());
    constexpr std::string_view kDemo = "0192f0a0-0001-7000-8000-000000000001";
    demo.replace(demo.find(kDemo), kDemo.size(), kCompanyId);
    app::Import(*api.database, demo);
  }
  Reply Answer(const Request& request) {
    testing::Api::Headers headers;
    if (!request.etag.empty()) headers.emplace_back("If-None-Match", request.etag);
    const testing::Answer answer = api.Get(request.path, headers);
    return CloudAnswer(answer.status(), BodyOf(answer), answer.response.etag);
  }

  testing::Api api{testing::RestaurantRoutes()};
};

TEST(CloudRestaurantOfComanda, MakesAnEmptyBoxEqualToIt) {
  constexpr size_t kSomeBytes = 300;  // no list is empty
  ComandaCloud cloud;
  LinkedBox box;
  box.there.answer = [&](const Request& request) { return cloud.Answer(request); };
  box.Read();
  for (const std::string_view path :
       {"/v1/company", "/v1/company/payment-methods", "/v1/company/tables", "/v1/menu",
        "/v1/users?per_page=100", "/v1/clients?per_page=100&sort=name"}) {
    std::string here = BodyOf(box.api.Get(path));
    std::string there = BodyOf(cloud.api.Get(path));
    // Stations are of a kitchen: the API has none.
    for (const std::string_view member : {"created_at", "updated_at", "kitchen_id"}) {
      here = Without(here, member);
      there = Without(there, member);
    }
    EXPECT_EQ(here, there) << path;
    EXPECT_GT(here.size(), kSomeBytes) << path;
  }
  EXPECT_EQ(box.Differences(), Texts());
  EXPECT_EQ(box.database->Read([](db::Snapshot& s) { return CountUnpaired(s, kCompany); }),
            (std::map<std::string, int64_t>()));
}

TEST(CloudRestaurantOfComanda, IsReadAgainWithoutAChange) {
  ComandaCloud cloud;
  LinkedBox box;
  // Without entity tags, so that all of it is looked at.
  box.there.answer = [&](Request request) {
    request.etag.clear();
    Reply reply = cloud.Answer(request);
    return CloudAnswer(reply.answer.status(), reply.answer.answer().body);
  };
  box.Read();
  const auto tags = [&] {
    Texts found;
    for (const std::string_view path :
         {"/v1/company", "/v1/company/payment-methods", "/v1/company/tables", "/v1/menu",
          "/v1/users", "/v1/clients"}) {
      found.push_back(box.api.Get(path).Header("ETag"));
    }
    return found;
  };
  const Texts before = tags();
  const int64_t seq = box.LastSeq();
  const auto rows = [&] {
    return box.Rows(
        "SELECT product_id || cloud_hash || box_hash FROM cloud_menu"
        " UNION ALL SELECT kind || cloud_id || box_id FROM alias ORDER BY 1");
  };
  const Texts kept = rows();
  box.ReadAll();
  EXPECT_EQ(tags(), before);
  EXPECT_EQ(box.LastSeq(), seq);
  EXPECT_EQ(rows(), kept);
  EXPECT_EQ(box.there.Count("/v1/menu"), 2);
  EXPECT_EQ(box.Plan(), 0) << "what the sync has written is not pushed back";
}

TEST(CloudRestaurantOfComanda, AsksWithTheTagsItWasGiven) {
  ComandaCloud cloud;
  LinkedBox box;
  int not_modified = 0;
  box.there.answer = [&](const Request& request) {
    Reply reply = cloud.Answer(request);
    if (reply.verdict == Verdict::kNotModified) ++not_modified;
    return reply;
  };
  box.Read();
  box.database.clock.Advance(300'000);
  box.Read();
  EXPECT_EQ(not_modified, 1) << "the menu";
  box.ReadAll();
  EXPECT_GE(not_modified, 4) << "company, payment methods, tables, users; stock is counted anew";
}

// Pairing.

TEST_F(CloudRestaurant, PairsEachKindByItsNaturalKey) {
  box.Import(R"("payment_methods":[{"code":"cash","description":"Efectivo"}],
    "tables":[{"name":"Mesa Á"}],
    "users":[{"name":"Rosa","role":"rider","email":"rosa@x.pe"}],
    "clients":[{"name":"Ana","country_calling_code":"51","phone_number":"987654321"},
               {"name":"Luis Ñ"}, {"name":"Solo aquí"}],
    "categories":[{"name":"PLATOS","products":[{"name":"Viejo nombre","sku":"L","price":3},
                                               {"name":"Té","price":4}]}])");
  auto& bodies = box.there.bodies;
  bodies["/v1/company/payment-methods"] =
      ListOf(R"({"id":"m1","code":"CASH","description":"Cash"})");
  bodies["/v1/company/tables"] = ListOf(R"({"id":7,"name":"mesa a"})");
  bodies["/v1/users"] = ListOf(R"({"id":"u","name":"R.","role":"cook","email":"ROSA@x.pe"})");
  bodies["/v1/clients"] = ListOf(
      R"({"id":"a","name":"Ana María","country_calling_code":"+51","phone_number":"987-654-321"},
         {"id":"b","name":"luis  n"})");
  ShowMenu(ProductOf("p1", "Lomo", "5", R"(,"sku":"L")") + "," + ProductOf("p2", "te", "4"));
  box.Read();
  EXPECT_EQ(box.Rows("SELECT code || ' ' || description FROM payment_method"),
            Texts({"CASH Cash"}));
  EXPECT_EQ(box.Rows("SELECT name FROM dining_table"), Texts({"mesa a"}));
  EXPECT_EQ(box.Rows("SELECT name || ' ' || role FROM staff"), Texts({"R. cook"}));
  EXPECT_EQ(box.Rows(kClientNames), Texts({"Ana María", "Solo aquí", "luis  n"}));
  EXPECT_EQ(box.Rows("SELECT name FROM product ORDER BY name"), Texts({"Lomo", "te"}));
  EXPECT_EQ(box.Rows("SELECT name FROM category"), Texts({"Platos"}));
  EXPECT_EQ(box.BoxId(Kind::kTable, "7"), box.Rows("SELECT id FROM dining_table").front());
  EXPECT_NE(box.BoxId(Kind::kVariant, "v-p1"), "");
  const auto unpaired =
      box.database->Read([](db::Snapshot& s) { return ListUnpaired(s, kCompany, 10); });
  EXPECT_EQ(unpaired, (std::multimap<std::string, std::string>{{"clients", "Solo aquí"}}));
}

TEST_F(CloudRestaurant, KeepsAPairThatIsRenamedOnEitherSide) {
  ShowMenu(ProductOf("p", "Lomo", "5"));
  box.Read();
  const std::string id = box.BoxId(Kind::kProduct, "p");
  ShowMenu(ProductOf("p", "Lomo fino", "6"));
  box.ReadAll();
  EXPECT_EQ(box.BoxId(Kind::kProduct, "p"), id);
  EXPECT_EQ(box.Product(id).name, "Lomo fino");
  EXPECT_EQ(box.Product(id).variants.front().price, 600);
  EXPECT_EQ(box.Rows("SELECT name FROM product"), Texts({"Lomo fino"}));
}

TEST_F(CloudRestaurant, KeepsWhatTheCloudDoesNotTell) {
  box.Import(
      R"("clients":[{"id":"11111111-0000-7000-8000-000000000001","name":"Ana","email":"a@x.pe",
    "notes":"sin sal","document_type":"DNI","document_number":"1"}])");
  box.there.bodies["/v1/clients"] = ListOf(
      R"({"id":"11111111-0000-7000-8000-000000000001","name":"Ana","notes":7,"document_type":null})");
  box.Read();
  EXPECT_EQ(box.Rows("SELECT email || ' ' || notes || ' ' || coalesce(document_type, '-') || ' ' ||"
                     " document_number FROM client"),
            Texts({"a@x.pe sin sal - 1"}));
}

// Writes a record without one of its members, or with another value in its place: that of the
// number-th member, in document order. Ids and the lists that are read are none.
class Mutilated {
 public:
  Mutilated(int number, std::string_view value) : left_(number), value_(value) {}

  // True once the member was found.
  bool Write(json::Value value, std::string& out) {
    using json::Kind;
    if (value.kind() == Kind::kArray) {
      out += '[';
      for (const json::Value item : value.items()) {
        if (!out.ends_with('[')) out += ',';
        Write(item, out);
      }
      out += ']';
    } else if (value.kind() == Kind::kObject) {
      out += '{';
      for (const auto& [name, member] : value.members()) WriteMember(name, member, out);
      out += '}';
    } else {
      out += value.Canonical();
    }
    return left_ < 0;
  }

 private:
  void WriteMember(std::string_view name, json::Value member, std::string& out) {
    static const std::set<std::string_view> kWhole = {"business_hours", "images", "service_types"};
    static const std::set<std::string_view> kNone = {"id", "data", "pagination", "categories",
                                                     "products"};
    const bool is_it = !kNone.contains(name) && left_-- == 0;
    if (is_it && value_.empty()) return;
    if (!out.ends_with('{')) out += ',';
    out += Concat({"\"", name, "\":"});
    if (is_it) {
      // Another kind than the member's.
      const bool is_object = member.kind() == json::Kind::kObject;
      out += value_ == "{}" && is_object ? "7" : value_;
    } else if (kWhole.contains(name) || name == "pagination") {
      out += member.Canonical();
    } else {
      Write(member, out);
    }
  }

  int left_;
  const std::string_view value_;
};

// Every member of every kind of record.
std::map<std::string, std::string> FullRecords() {
  return {
      {"/v1/company",
       R"({"data":{"id":"c","name":"La Terraza","description":"d","logo":"https://x.pe/l","public_url":
       "https://x.pe","phone":"14455667","language":"es","day_starts_at":"05:00:00","location":{
       "address":"Av. 1","area":"a","city":"Lima","state":"LI","postal_code":"15074","latitude":-12.1,
       "longitude":"-77.03"},"business_hours":{"monday":{"is_active":true,"hours":[{"open":"12:00:00",
       "close":"17:00"}]}}}})"},
      {"/v1/company/payment-methods",
       ListOf(R"({"id":"m","code":"cash","description":"Cash","service_types":["TABLE","OTHER"],
       "active":true})")},
      {"/v1/company/tables", ListOf(R"({"id":7,"name":"Mesa 1","area":"Patio","active":true})")},
      {"/v1/users", ListOf(R"({"id":"u","name":"Rosa","email":"rosa@x.pe","role":"cook",
       "country_calling_code":"51","phone_number":"987654321","active":false})")},
      {"/v1/clients",
       ListOf(
           R"({"id":"k","name":"Ana","email":"ana@x.pe","country_calling_code":"+51","phone_number":
       "912345678","document_type":"DNI","document_number":"1","notes":"sin sal","addresses":[{"id":"a",
       "address":"Av. 2","area":"s","city":"Lima","reference":"r","complement":"c","latitude":-12.1,
       "longitude":-77}]})")},
      {"/v1/menu",
       MenuOf(
           R"({"id":"cat","name":"Platos","slug":"pl","description":"d","image_url":"https://x.pe/i",
       "visible":false,"position":3,"products":[{"id":"p","name":"Lomo","slug":"lo","description":"d",
       "image_url":"https://x.pe/i","images":["https://x.pe/1"],"visible":false,"stock_enabled":true,
       "messages_for_customers":"m","position":4,"variants":[{"id":"v","name":"Grande","sku":"L",
       "price":5.5,"original_price":6,"packaging_price":1,"cost":2,"stock":3,"stock_threshold":1,
       "position":2}],"modifier_categories":[{"id":"g","name":"Salsas","type":"one","required":true,
       "min_modifiers":1,"max_modifiers":1,"is_active":false,"position":5,"modifiers":[{"id":"x",
       "name":"Ají","sku":"AJ","price":1,"original_price":2,"max_limit":1,"visible":false,
       "position":6}]}]}]})")}};
}

// What this box shows, without what the clock changes.
std::string Shown(LinkedBox& box, const std::string& path) {
  box.ReadAll();
  return Without(Without(BodyOf(box.api.Get(path)), "updated_at"), "currently_open");
}

TEST_F(CloudRestaurant, SomebodyWithoutANameIsNamedByWhatElseIsShown) {
  box.there.bodies["/v1/users"] = ListOf(
      R"({"id":"u1","role":"cook"},{"id":"u2","role":"rider","email":"b@x.pe"},
         {"id":"u3","role":"rider","first_name":"Ana","last_name":"Paz"})");
  box.Read();
  EXPECT_EQ(box.Rows("SELECT name FROM staff ORDER BY name"),
            Texts({"Ana Paz", "b@x.pe", "cook u1"}));
}

TEST_F(CloudRestaurant, WhatARecordDoesNotShowStaysAsItIs) {
  const auto records = FullRecords();
  box.there.bodies = records;
  for (const auto& [path, body] : records) {
    const std::string full = Shown(box, path);
    EXPECT_EQ(box.Differences(), Texts());
    const json::Document record = json::Document::Parse(body);
    for (const std::string_view value : {"", "{}"}) {
      bool is_there = true;
      for (int number = 0; is_there; ++number) {
        std::string text;
        is_there = Mutilated(number, value).Write(record.root(), text);
        box.there.bodies[path] = text;
        EXPECT_EQ(Shown(box, path), full) << text;
      }
    }
    box.there.bodies[path] = body;
  }
  EXPECT_EQ(box.Differences(), Texts());
}

TEST_F(CloudRestaurant, WhatARecordShowsAsNullIsEmptyUntilItIsShownAgain) {
  const auto records = FullRecords();
  box.there.bodies = records;
  int emptied = 0;
  for (const auto& [path, body] : records) {
    const std::string full = Shown(box, path);
    const json::Document record = json::Document::Parse(body);
    bool is_there = true;
    for (int number = 0; is_there; ++number) {
      std::string text;
      is_there = Mutilated(number, "null").Write(record.root(), text);
      box.there.bodies[path] = text;
      if (Shown(box, path) != full) ++emptied;
      box.there.bodies[path] = body;
      EXPECT_EQ(Shown(box, path), full) << text;
    }
  }
  constexpr int kThatCanBeEmpty = 34;
  EXPECT_EQ(emptied, kThatCanBeEmpty);
  EXPECT_EQ(box.Differences(), Texts());
}

// What the cloud's lists lack.

TEST_F(CloudRestaurant, HidesAProductThatTheMenuLacksAndShowsItWhenItReturns) {
  ShowMenu(ProductOf("p", "Lomo", "5") + "," + ProductOf("q", "Ají", "6"));
  box.Read();
  ShowMenu(ProductOf("q", "Ají", "6"));
  box.ReadAll();
  EXPECT_FALSE(Product("p").visible);
  EXPECT_TRUE(Product("q").visible);
  EXPECT_EQ(box.Plan(), 0) << "hiding is not pushed";
  const int64_t seq = box.LastSeq();
  box.ReadAll();
  EXPECT_EQ(box.LastSeq(), seq);
  ShowMenu(ProductOf("p", "Lomo", "5") + "," + ProductOf("q", "Ají", "6"));
  box.ReadAll();
  EXPECT_TRUE(Product("p").visible);
  EXPECT_EQ(box.Rows("SELECT name FROM product ORDER BY name"), Texts({"Ají", "Lomo"}));
}

TEST_F(CloudRestaurant, TakesAProductThatWasDeletedAndMadeAgainForTheSame) {
  ShowMenu(ProductOf("p", "Lomo", "5", R"(,"sku":"L")"));
  box.Read();
  const std::string id = box.BoxId(Kind::kProduct, "p");
  ShowMenu(ProductOf("new", "Lomo 2", "7", R"(,"sku":"L")"));
  box.ReadAll();
  EXPECT_EQ(box.BoxId(Kind::kProduct, "new"), id);
  EXPECT_TRUE(box.Product(id).visible);
  EXPECT_EQ(box.Product(id).variants.front().price, 700);
  EXPECT_EQ(box.Differences(), Texts());
}

TEST_F(CloudRestaurant, LeavesAProductThatOnlyTheBoxHas) {
  box.Import(R"("categories":[{"name":"Bar","products":[{"name":"Agua","price":2}]}])");
  ShowMenu(ProductOf("p", "Lomo", "5"));
  box.Read();
  box.ReadAll();
  EXPECT_EQ(box.Rows("SELECT name || ' ' || visible FROM product ORDER BY name"),
            Texts({"Agua 1", "Lomo 1"}));
  EXPECT_EQ(box.database->Read([](db::Snapshot& s) { return CountUnpaired(s, kCompany); }),
            (std::map<std::string, int64_t>{{"categories", 1}, {"products", 1}}));
}

TEST_F(CloudRestaurant, MakesPaymentMethodsThatVanishInactive) {
  auto& methods = box.there.bodies["/v1/company/payment-methods"];
  methods = ListOf(R"({"id":"m","code":"cash"},{"id":"n","code":"card"})");
  box.Read();
  methods = ListOf(R"({"id":"m","code":"cash"})");
  box.ReadAll();
  constexpr db::Sql kActive = "SELECT code || ' ' || active FROM payment_method ORDER BY code";
  EXPECT_EQ(box.Rows(kActive), Texts({"card 0", "cash 1"}));
  methods = ListOf(R"({"id":"m","code":"cash"},{"id":"other","code":"card"})");
  box.ReadAll();
  EXPECT_EQ(box.Rows(kActive), Texts({"card 1", "cash 1"}));
  methods = ListOf("");
  box.ReadAll();
  EXPECT_EQ(box.Rows(kActive), Texts({"card 1", "cash 1"})) << "money can still be taken";
}

TEST_F(CloudRestaurant, HidesModifiersThatAProductLost) {
  const auto with = [](std::string_view groups) {
    return Concat({R"({"id":"p","name":"Lomo","variants":[{"id":"v","name":"Default","price":5}],)"
                   R"("modifier_categories":[)",
                   groups, "]}"});
  };
  const std::string one =
      R"({"id":"g","name":"Salsa","modifiers":[{"id":"x","name":"Ají","price":1}]})";
  ShowMenu(with(R"({"id":"g","name":"Salsa","modifiers":[{"id":"x","name":"Ají","price":1},
                   {"id":"y","name":"Mayo","price":1}]},{"id":"h","name":"Pan","modifiers":[]})"));
  box.Read();
  ShowMenu(with(one));
  box.ReadAll();
  const menu::Product product = Product("p");
  ASSERT_EQ(product.modifier_categories.size(), 2u);
  EXPECT_TRUE(product.modifier_categories[0].is_active);
  EXPECT_FALSE(product.modifier_categories[1].is_active);
  EXPECT_TRUE(product.modifier_categories[0].modifiers[0].visible);
  EXPECT_FALSE(product.modifier_categories[0].modifiers[1].visible);
}

TEST_F(CloudRestaurant, GivesEachProductItsOwnCopyOfModifiersThatTheCloudShares) {
  const auto with_group = [](std::string_view id) {
    return Concat(
        {R"({"id":")", id, R"(","name":")", id,
         R"(","price":5,"modifier_categories":)"
         R"([{"id":"g","name":"Salsa","modifiers":[{"id":"x","name":"Aji","price":1}]}]})"});
  };
  ShowMenu(with_group("p") + "," + with_group("q"));
  box.Read();
  const int64_t seq = box.LastSeq();
  EXPECT_EQ(Product("p").modifier_categories.size(), 1u);
  EXPECT_EQ(Product("q").modifier_categories.size(), 1u);
  ShowMenu(with_group("q") + "," + with_group("p"));
  box.ReadAll();
  EXPECT_EQ(Product("p").modifier_categories.front().modifiers.size(), 1u);
  EXPECT_EQ(Product("q").modifier_categories.front().modifiers.size(), 1u);
  EXPECT_EQ(box.LastSeq(), seq);
  EXPECT_EQ(box.Differences(), Texts());
}

// Stock.

TEST_F(CloudRestaurant, SetsStockToTheCloudsCountLessWhatWaits) {
  const auto show = [&](std::string_view stock) {
    ShowMenu(Concat({R"({"id":"p","name":"Lomo","stock_enabled":true,"variants":[{"id":"v",)"
                     R"("name":"Default","price":5,"sku":"L","stock":)",
                     stock, "}]}"}));
  };
  show("10.5");
  box.Read();
  EXPECT_EQ(Product("p").variants.front().stock, 10'500);
  const std::string variant = box.BoxId(Kind::kVariant, "v");
  const std::string sold = "0190a5c8-1111-7000-8000-000000000001";
  const std::string cancelled = "0190a5c8-1111-7000-8000-000000000002";
  // Rows of 2.5 and 1, which the cloud has not counted; one of 4 that is cancelled, and one of 3 of
  // an order that is.
  Sell(sold, {{variant, 2'500}, {"", 1'000}, {variant, 4'000}}, 2);
  Sell(cancelled, {{variant, 3'000}}, {});
  box.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
    orders::Cancel(tx, TargetOf(cancelled), "se fue", stamp);
  });
  Compare(sold);
  Compare(cancelled);
  box.Plan();
  const int64_t seq = box.LastSeq();
  box.ReadAll();
  EXPECT_EQ(Product("p").variants.front().stock, 7'000);
  EXPECT_EQ(box.LastSeq(), seq) << "a count that moves is no change of the product";
  show("2");
  box.ReadAll();
  EXPECT_EQ(Product("p").variants.front().stock, 0);
  EXPECT_EQ(box.LastSeq(), seq + 1) << "it is not available any more";
  EXPECT_EQ(box.Plan(), 0) << "and that is not pushed";
}

// Refusals.

TEST_F(CloudRestaurant, LeavesOutARowThatIsRefusedAndSaysItOnce) {
  box.there.bodies["/v1/clients"] = ListOf(ClientOf(1) + R"(,{"id":"bad","name":"Ana\nEva"},)" +
                                           ClientOf(2, R"(,"email":"none")") + "," + ClientOf(3));
  ShowMenu(ProductOf("p", "Lomo", "5.555") + "," + ProductOf("q", "Ají", "6") + "," +
           ProductOf("r", "Sin precio", "null"));
  box.Read();
  EXPECT_EQ(box.Rows(kClientNames), Texts({"Cliente 1", "Cliente 3"}));
  EXPECT_EQ(box.Rows("SELECT name FROM product"), Texts({"Ají"}));
  const Texts differences = box.Differences();
  ASSERT_EQ(differences.size(), 4u);
  EXPECT_TRUE(differences[0].starts_with("menu p price ")) << differences[0];
  EXPECT_TRUE(differences[1].starts_with("menu r price ")) << differences[1];
  EXPECT_TRUE(differences[2].starts_with("link bad name ")) << differences[2];
  EXPECT_TRUE(differences[3].starts_with("link k2 email ")) << differences[3];
  box.ReadAll();
  EXPECT_EQ(box.Differences(), differences);
}

TEST_F(CloudRestaurant, TakesAllRowsButTheRefusedOfALongList) {
  std::string rows;
  for (int i = 0; i < 100; ++i) {
    rows += Concat({i == 0 ? "" : ",", R"({"id":"k)", i, R"(","name":")",
                    i % 10 == 0 ? "Cliente" : R"(Mal\u0007)", R"("})"});
  }
  box.there.bodies["/v1/clients"] = ListOf(rows);
  box.Read();
  EXPECT_EQ(box.Rows(kClientNames).size(), 10u);
  EXPECT_LE(box.Differences().size(), 20u) << "the rest is in the log's count";
  EXPECT_EQ(box.there.Count("/v1/clients"), 1);
}

TEST_F(CloudRestaurant, TakesTheFieldsOfTheCompanyThatAreGood) {
  box.there.bodies["/v1/company"] = R"({"data":{"id":"c","name":"Nueva","language":"es-PE",
    "description":null,"phone":5,"currency":"USD","timezone":"Europe/Madrid","country_code":"ES",
    "day_starts_at":"04:30:00","business_hours":{"monday":{"is_active":true,"hours":[{"open":"09:00:00","close":"18:00","x":1}]},
                      "holidays":{}},
    "location":{"city":"Lima","country_code":"ES","latitude":-12.1,"longitude":"-77.0"}}})";
  box.Read();
  const auto company =
      box.database->Read([](db::Snapshot& snapshot) { return company::Get(snapshot, kCompany); });
  EXPECT_EQ(company.name, "Nueva");
  EXPECT_EQ(company.language, std::nullopt);
  EXPECT_EQ(company.city, "Lima");
  EXPECT_EQ(company.day_starts_at, 270);
  EXPECT_EQ(company.latitude, "-12.1");
  EXPECT_EQ(company.longitude, "-77");
  EXPECT_EQ(company.currency, "PEN");
  EXPECT_EQ(company.timezone, "America/Lima");
  EXPECT_EQ(company.country_code, "PE");
  EXPECT_NE(company.business_hours.find(R"({"open":"09:00","close":"18:00"})"), std::string::npos);
  EXPECT_EQ(box.Differences().size(), 1u) << "the language";
}

// Hostile answers.

TEST_F(CloudRestaurant, EndsAListWhosePagesRepeat) {
  box.there.bodies["/v1/clients"] = ListOf(ClientOf(1), true);
  box.there.bodies["/v1/company/payment-methods"] = ListOf(R"({"id":"m","code":"cash"})", true);
  box.there.bodies["/v1/menu"] =
      Concat({R"({"data":{"categories":[)", CategoryOf(ProductOf("p", "Lomo", "5")),
              R"(]},"pagination":{"has_more":true}})"});
  box.Read();
  EXPECT_EQ(box.there.Count("/v1/clients"), 2);
  EXPECT_EQ(box.there.Count("/v1/company/payment-methods"), 2);
  EXPECT_EQ(box.there.Count("/v1/menu"), 2);
  EXPECT_EQ(box.Rows(kClientNames).size(), 1u);
  box.there.bodies["/v1/menu"] = R"({"data":{"categories":[]},"pagination":{"has_more":true}})";
  box.ReadAll();
  EXPECT_TRUE(Product("p").visible) << "such a menu is not whole";
}

TEST_F(CloudRestaurant, BoundsAListOfNewIdsEachTime) {
  int number = 0;
  box.there.answer = [&](const Request& request) {
    if (!request.path.starts_with("/v1/company/tables")) return CloudAnswer(200, ListOf(""));
    ++number;
    return CloudAnswer(
        200, ListOf(Concat({R"({"id":)", number, R"(,"name":"Mesa )", number, R"("})"}), true));
  };
  box.Read();
  EXPECT_LE(number, 50);
  EXPECT_EQ(box.Rows("SELECT id FROM dining_table").size(), static_cast<size_t>(number));
}

TEST_F(CloudRestaurant, TakesNothingFromAnswersThatAreNone) {
  ShowMenu(ProductOf("p", "Lomo", "5"));
  box.Read();
  for (const std::string_view body :
       {R"({"data":null})", R"({"data":7})", R"({"data":"x"})", "{}", "<html>",
        R"({"data":{"categories":{}}})",
        R"({"data":[null,7,"x",[],{},{"id":null},{"id":{}},{"id":"","name":5}]})",
        R"({"data":{"categories":[null,7,{"id":"c","products":{}},{"name":"x"}]}})"}) {
    for (auto& [path, shown] : box.there.bodies) shown = std::string(body);
    box.ReadAll();
    EXPECT_EQ(box.Rows(kClientNames), Texts()) << body;
    EXPECT_EQ(box.Rows("SELECT name FROM product"), Texts({"Lomo"})) << body;
  }
}

TEST_F(CloudRestaurant, ReadsAMenuThatIsPaged) {
  box.there.answer = [&](const Request& request) {
    if (!request.path.starts_with("/v1/menu")) return CloudAnswer(200, ListOf(""));
    const bool is_second = request.path.ends_with("page=2");
    return CloudAnswer(
        200, Concat({R"({"data":{"categories":[)",
                     is_second ? CategoryOf(ProductOf("q", "Ají", "6"), "c2", "B")
                               : CategoryOf(ProductOf("p", "Lomo", "5"), "c1", "A"),
                     R"(]},"pagination":{"has_more":)", is_second ? "false" : "true", "}}"}));
  };
  box.Read();
  EXPECT_EQ(box.Rows("SELECT name || ' ' || visible FROM product ORDER BY name"),
            Texts({"Ají 1", "Lomo 1"}));
  box.there.answer = nullptr;
  ShowMenu("");
  box.ReadAll();
  EXPECT_EQ(box.Rows("SELECT name || ' ' || visible FROM product ORDER BY name"),
            Texts({"Ají 0", "Lomo 0"}));
}

TEST_F(CloudRestaurant, ReadsTenThousandClientsInSmallTransactionsAndThenTheChangedOnes) {
  constexpr int kAll = 10'000;
  constexpr int kPage = 100;
  std::string changed;
  box.there.answer = [&](const Request& request) {
    if (!request.path.starts_with("/v1/clients")) return CloudAnswer(200, ListOf(""));
    const size_t since = request.path.find("updated_since");
    if (since != request.path.npos) {
      const bool is_probe = request.path.find("per_page=1&") != request.path.npos ||
                            request.path.ends_with("per_page=1");
      return CloudAnswer(200, ListOf(is_probe ? "" : changed));
    }
    const int page = std::stoi(request.path.substr(request.path.find("page=") + 5));
    std::string rows;
    for (int i = (page - 1) * kPage; i < page * kPage; ++i) {
      rows += (rows.empty() ? "" : ",") + ClientOf(i, R"(,"updated_at":"2026-01-01T00:00:00Z")");
    }
    return CloudAnswer(200, ListOf(rows, page * kPage < kAll));
  };
  box.Read();
  EXPECT_EQ(box.Rows("SELECT id FROM client").size(), static_cast<size_t>(kAll));
  EXPECT_EQ(box.there.Count("/v1/clients"), kAll / kPage + 1);
  box.there.asked.clear();
  changed = R"({"id":"k5","name":"Otro","updated_at":"2026-01-02T00:00:00Z"})";
  box.ReadAll();
  EXPECT_EQ(box.there.Count("/v1/clients"), 1);
  EXPECT_EQ(box.Rows("SELECT name FROM client WHERE name LIKE 'Otro'").size(), 1u);
}

TEST_F(CloudRestaurant, ReadsAllClientsOfACloudThatIgnoresTheFilter) {
  box.there.bodies["/v1/clients"] = ListOf(ClientOf(1, R"(,"updated_at":"2026-01-01T00:00:00Z")"));
  box.Read();
  box.there.asked.clear();
  box.ReadAll();
  EXPECT_EQ(box.there.asked.back(), "/v1/clients?page=1&per_page=100");
  EXPECT_EQ(box.there.Count("/v1/clients"), 1);
}

TEST_F(CloudRestaurant, GoesOnWhereItWasInterrupted) {
  int asked = 0;
  bool is_cut = true;
  box.there.answer = [&](const Request& request) {
    if (!request.path.starts_with("/v1/clients?page")) return CloudAnswer(200, ListOf(""));
    ++asked;
    if (request.path.starts_with("/v1/clients?page=2") && is_cut) throw Interrupted();
    const bool is_first = request.path.starts_with("/v1/clients?page=1");
    return CloudAnswer(200, ListOf(ClientOf(is_first ? 1 : 2), is_first));
  };
  EXPECT_THROW(box.Read(), Interrupted);
  EXPECT_EQ(box.Rows(kClientNames), Texts({"Cliente 1"}));
  is_cut = false;
  box.Read();
  EXPECT_EQ(box.Rows(kClientNames), Texts({"Cliente 1", "Cliente 2"}));
  EXPECT_EQ(asked, 3) << "page 1 once";
}

TEST_F(CloudRestaurant, IsDueByTheIntervalOfEachPart) {
  EXPECT_EQ(box.restaurant.DueInMs(box.Linked()), 0);
  box.Read();
  EXPECT_EQ(box.restaurant.DueInMs(box.Linked()), 300'000);
  box.there.asked.clear();
  box.database.clock.Advance(300'000);
  EXPECT_EQ(box.restaurant.DueInMs(box.Linked()), 0);
  box.Read();
  EXPECT_EQ(box.there.asked, Texts({"/v1/menu"}));
}

}  // namespace
}  // namespace comanda::cloud
