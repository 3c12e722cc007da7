#include "cloud/menu/menu_push.h"

#include <gtest/gtest.h>

#include "cloud/orders/journal_store.h"
#include "support/listed_cloud.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using testing::kCompany;
using testing::LinkedBox;
using testing::MenuOf;

using Texts = std::vector<std::string>;

std::string MenuWith(std::string_view name, std::string_view price) {
  return MenuOf(
      Concat({R"({"id":"cat","name":"Platos","products":[{"id":"p","name":")", name,
              R"(","variants":[{"id":"v","name":"Default","sku":"L","price":)", price, "}]}]}"}));
}

class CloudMenuPush : public ::testing::Test {
 protected:
  CloudMenuPush() {
    box.Import(
        R"("categories":[{"name":"Bar","products":[{"name":"Agua","sku":"AGUA","price":2}]}])");
    box.database->Write([](db::Tx& tx, const db::Stamp&) {
      NoteMenu(tx, kCompany);
      PutPlannedSeq(tx, kCompany, events::ExtentOf(tx, kCompany).last);
    });
    box.there.bodies["/v1/menu"] = MenuWith("Lomo", "5");
    box.Read();
  }

  std::string Lomo() { return box.BoxId(Kind::kProduct, "p"); }
  std::string SetPrice(std::string_view price) {
    return box.Change(menu::kPatchVariant, Concat({R"({"price":)", price, "}"}), Lomo(),
                      box.BoxId(Kind::kVariant, "v"));
  }
  std::optional<Waiting> Next() {
    return box.database->Read([](db::Snapshot& snapshot) {
      return store::IsWaiting(snapshot, kCompany, "") ? store::FirstStep(snapshot, kCompany, "")
                                                      : std::nullopt;
    });
  }
  // The cloud accepts the step that is next.
  void Accept(std::string_view answer) {
    const Waiting waiting = *Next();
    box.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      TakePushed(tx, kCompany, waiting.step, answer, stamp);
      RemovePush(tx, kCompany, waiting);
    });
  }
  void LookBefore(std::string_view answer) {
    const Step step = Next()->step;
    box.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      NoteBeforePush(tx, kCompany, step, answer, stamp);
    });
  }
  Texts Waits() {
    return box.database->Read(
        [](db::Snapshot& snapshot) { return WaitingProducts(snapshot, kCompany); });
  }

  LinkedBox box;
};

TEST_F(CloudMenuPush, PushesAChangedPriceUnderTheCloudsIds) {
  EXPECT_EQ(box.Plan(), 0) << "what was read";
  SetPrice("6.5");
  EXPECT_EQ(box.Plan(), 1);
  const std::optional<Waiting> waiting = Next();
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->order_id, "");
  EXPECT_EQ(waiting->step.kind, StepKind::kMenu);
  EXPECT_TRUE(waiting->step.key.starts_with("c1-menu-")) << waiting->step.key;
  EXPECT_TRUE(waiting->step.key.ends_with("-0")) << waiting->step.key;
  EXPECT_EQ(waiting->step.row_ids, Texts({Lomo()}));
  EXPECT_EQ(
      waiting->step.body,
      R"({"products":[{"id":"p","category_id":"cat","name":"Lomo","images":[],"position":0,)"
      R"("visible":true,"stock_enabled":false,"variants":[{"id":"v","name":"Default",)"
      R"("sku":"L","price":6.5,"packaging_price":0,"position":0}],"modifier_categories":[]}]})");
  EXPECT_EQ(box.Plan(), 0) << "once";
  EXPECT_EQ(Waits(), Texts({Lomo()}));
}

TEST_F(CloudMenuPush, PushesANewProductAndLearnsItsId) {
  const std::string id =
      box.Change(menu::kPostProduct,
                 R"({"name":"Nuevo","category_name":"Postres","price":9,"sku":"N","stock":4})");
  EXPECT_EQ(box.Plan(), 1);
  const std::string body = Next()->step.body;
  EXPECT_EQ(body.find(id), std::string::npos) << "matched by sku";
  EXPECT_NE(body.find(R"("category_name":"Postres")"), std::string::npos);
  EXPECT_NE(body.find(R"("stock":4)"), std::string::npos);
  Accept(R"({"data":{"created":1,"products":[{"index":0,"id":"their-n","sku":"N"}]}})");
  EXPECT_EQ(box.BoxId(Kind::kProduct, "their-n"), id);
  EXPECT_FALSE(Next());
  EXPECT_EQ(box.restaurant.DueInMs(box.Linked()), 0) << "the menu tells the ids of its variants";
}

TEST_F(CloudMenuPush, SendsTheIdOfANewProductWithoutASku) {
  const std::string id =
      box.Change(menu::kPostProduct, R"({"name":"Nuevo","category_name":"Postres","price":9})");
  box.Plan();
  EXPECT_NE(Next()->step.body.find(Concat({R"("id":")", id, R"(")"})), std::string::npos);
}

TEST_F(CloudMenuPush, LeavesProductsThatOnlyTheBoxHasUntilTheyChange) {
  const std::string agua = box.Rows("SELECT id FROM product WHERE name = 'Agua'").front();
  EXPECT_EQ(box.Plan(), 0);
  box.Change(menu::kPatchProduct, R"({"description":"Fría"})", agua);
  EXPECT_EQ(box.Plan(), 1);
  EXPECT_EQ(Waits(), Texts({agua}));
}

TEST_F(CloudMenuPush, IsNotTouchedByAReadingUntilItIsPushed) {
  SetPrice("6.5");
  box.ReadAll();
  EXPECT_EQ(box.Product(Lomo()).variants.front().price, 650) << "before it is planned";
  box.Plan();
  box.there.bodies["/v1/menu"] = MenuOf("");
  box.ReadAll();
  EXPECT_TRUE(box.Product(Lomo()).visible) << "a product whose push waits is not missing";
  EXPECT_EQ(box.Differences(), Texts());
  Accept(R"({"data":{"products":[{"id":"p"}]}})");
  box.there.bodies["/v1/menu"] = MenuWith("Lomo", "6.5");
  box.ReadAll();
  box.there.bodies["/v1/menu"] = MenuWith("Lomo", "8");
  box.ReadAll();
  EXPECT_EQ(box.Product(Lomo()).variants.front().price, 800);
  EXPECT_EQ(box.Plan(), 0);
  EXPECT_EQ(box.Differences(), Texts());
}

TEST_F(CloudMenuPush, WinsOverAnEditOfTheCloudWhichIsTold) {
  SetPrice("6.5");
  box.Plan();
  box.there.bodies["/v1/menu"] = MenuWith("Lomo", "7");
  box.ReadAll();
  box.ReadAll();
  EXPECT_EQ(box.Product(Lomo()).variants.front().price, 650);
  const Texts told = box.Rows("SELECT kind || ': ' || box || ' / ' || cloud FROM cloud_difference");
  EXPECT_EQ(told, Texts({"menu: Lomo: Default 6.5 / Lomo: Default 7"})) << "once";
}

TEST_F(CloudMenuPush, LooksForAnEditOfTheCloudBeforeItIsSent) {
  SetPrice("6.5");
  box.Plan();
  const auto look = box.database->Read(
      [&](db::Snapshot& snapshot) { return LookBeforePush(snapshot, kCompany, Next()->step); });
  ASSERT_TRUE(look);
  EXPECT_EQ(look->path, "/v1/menu/products/p");
  const auto answer = [](std::string_view price) {
    return Concat({R"({"data":{"id":"p","category_id":"cat","name":"Lomo","variants":[{"id":"v",)"
                   R"("name":"Default","sku":"L","price":)",
                   price, "}]}}"});
  };
  LookBefore(answer("5"));
  EXPECT_EQ(box.Differences(), Texts()) << "as it was read";
  LookBefore(answer("7"));
  EXPECT_EQ(box.Differences().size(), 1u);
  LookBefore("<html>");
  LookBefore(R"({"data":[]})");
  EXPECT_EQ(box.Differences().size(), 1u);
}

TEST_F(CloudMenuPush, AHashOfAnOlderProgramIsNoEditOfTheCloudAndIsMadeAnew) {
  box.database->Write([](db::Tx& tx, const db::Stamp&) {
    tx.Run("UPDATE cloud_menu SET cloud_hash = 'abc' WHERE company_id = $1 AND cloud_hash <> ''",
           kCompany);
  });
  SetPrice("6.5");
  box.Plan();
  LookBefore(R"({"data":{"id":"p","category_id":"cat","name":"Lomo","variants":[{"id":"v",)"
             R"("name":"Default","sku":"L","price":5}]}})");
  EXPECT_EQ(box.Differences(), Texts());

  box.database->Write([](db::Tx& tx, const db::Stamp&) {
    tx.Run("UPDATE cloud_menu SET cloud_hash = 'abc' WHERE company_id = $1 AND cloud_hash <> ''",
           kCompany);
    tx.Run("DELETE FROM cloud_step WHERE company_id = $1", kCompany);
  });
  box.there.etags["/v1/menu"] = "\"t\"";
  constexpr db::Sql kOld = "SELECT product_id FROM cloud_menu WHERE cloud_hash = 'abc'";
  for (int i = 0; i < 2; ++i) {
    box.database.clock.Advance(300'000);
    box.Read();
    EXPECT_EQ(box.Rows(kOld), Texts()) << "the menu is read though its entity tag is as it was";
  }
  EXPECT_EQ(box.there.Count("/v1/menu"), 3) << "and then its tag is asked with";
}

TEST_F(CloudMenuPush, PlansEachProductOfABulkChangeOnce) {
  box.Import(R"("categories":[{"name":"Bar","products":[
    {"name":"Agua","sku":"AGUA","price":3},{"name":"Vino","sku":"VINO","price":8}]}])");
  EXPECT_EQ(box.Plan(), 2);
  const Waiting first = *Next();
  EXPECT_TRUE(first.step.key.ends_with("-0"));
  Accept(R"({"data":{}})");
  EXPECT_TRUE(Next()->step.key.ends_with("-1"));
  EXPECT_EQ(Next()->step.position, first.step.position + 1);
}

TEST_F(CloudMenuPush, DropsWhatTheCloudRefusesAndTakesTheCloudsVersionBack) {
  SetPrice("6.5");
  box.Plan();
  box.there.etags["/v1/menu"] = "\"1\"";
  box.database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
    const Waiting waiting = *store::FirstStep(tx, kCompany, "");
    DropPush(tx, kCompany, waiting.step, R"({"status":422,"detail":"no"})", stamp);
    RemovePush(tx, kCompany, waiting);
  });
  ASSERT_EQ(box.Differences().size(), 1u);
  EXPECT_NE(box.Differences().front().find("422"), std::string::npos);
  box.Read();
  EXPECT_EQ(box.Product(Lomo()).variants.front().price, 500);
  EXPECT_EQ(box.Plan(), 0);
}

TEST_F(CloudMenuPush, DoesNotPairTwoProductsWithOneOfTheCloud) {
  box.Change(menu::kPostProduct, R"({"name":"Otro","category_name":"Bar","price":9,"sku":"O"})");
  box.Plan();
  Accept(R"({"data":{"products":[{"id":"p"}]}})");
  EXPECT_EQ(box.Product(Lomo()).name, "Lomo");
  EXPECT_EQ(box.Differences().size(), 1u);
}

}  // namespace
}  // namespace comanda::cloud
