#include <array>

#include "base/time/clock.h"
#include "selftest/check.h"

namespace comanda::selftest {
namespace {

using auth::Scope;

// The API cannot delete products: every run uses the same hidden one.
constexpr std::string_view kProducts = "/v1/menu/products";
constexpr int64_t kHourMs = 60 * 60'000;

Reply Post(Probe& probe) {
  const std::string body =
      Filled(R"({"name":"Selftest dish","category_id":"$","sku":"$","price":$,"visible":false})",
             {probe.menu.Text("data.categories.0.id"), std::string(kDishSku), probe.Amount(1000)});
  return probe.Send({.method = "POST", .path = std::string(kProducts), .body = body});
}

Reply Upsert(Probe& probe, const std::string& rows) {
  return probe.Send(
      {.method = "PUT", .path = std::string(kProducts), .body = "{\"products\":[" + rows + "]}"});
}

std::string Row(const Probe& probe, Minor price) {
  return Filled(R"({"sku":"$","name":"Selftest dish","price":$,"visible":false})",
                {std::string(kDishSku), probe.Amount(price)});
}

std::string PathOf(const Probe& probe) { return std::string(kProducts) + "/" + probe.dish_id; }

bool HasDish(const Probe& probe, Finding& finding) {
  if (!probe.dish_id.empty()) return true;
  finding.NotChecked("there is no product to do it with");
  return false;
}

void CreatesAProduct(Probe& probe, Finding& finding) {
  if (probe.menu.Text("data.categories.0.id").empty()) {
    return finding.NotChecked("the menu has no category for a hidden product");
  }
  const Reply made = Post(probe);
  if (made.status() == 422) {
    // An earlier run created it.
    const Reply found = Upsert(probe, Row(probe, 1000));
    probe.dish_id = found.Text("data.products.0.id");
    if (!probe.dish_id.empty()) return finding.Note("it was there from an earlier walk");
  }
  if (!finding.Status(made, 201)) return;
  probe.dish_id = made.Text("data.id");
  finding.Boolean(made, "data.visible", false);
  finding.Boolean(made, "data.available", false);
  finding.Text(made, "data.variants.0.name", "Default");
  finding.Text(made, "data.variants.0.sku", kDishSku);
  finding.Number(made, "data.variants.0.price", probe.Amount(1000));
}

void RefusesATakenSku(Probe& probe, Finding& finding) {
  if (!HasDish(probe, finding)) return;
  finding.Invalid(Post(probe), "sku", "sku_taken");
}

void RepeatsAnUpsert(Probe& probe, Finding& finding) {
  if (!HasDish(probe, finding)) return;
  if (!finding.Status(Upsert(probe, Row(probe, 1200)), 200)) return;
  const Reply before = probe.Get(PathOf(probe));
  const Reply again = Upsert(probe, Row(probe, 1200));
  if (!finding.Status(again, 200)) return;
  finding.Number(again, "data.unchanged", "1");
  finding.Text(again, "data.products.0.id", probe.dish_id);
  finding.Text(again, "data.products.0.result", "unchanged");
  finding.SameRecord("the product", before.Find("data"), probe.Get(PathOf(probe)).Find("data"));
}

void UpsertsAllOrNothing(Probe& probe, Finding& finding) {
  if (!HasDish(probe, finding)) return;
  const Reply before = probe.Get(PathOf(probe));
  const std::string good =
      Filled(R"({"sku":"$","description":"half of a call"})", {std::string(kDishSku)});
  const std::string bad = R"({"sku":"SELFTEST-NEVER","name":"Selftest","price":-1})";
  finding.Invalid(Upsert(probe, good + "," + bad), "products[1].price", "must_not_be_negative");
  finding.SameRecord("the product", before.Find("data"), probe.Get(PathOf(probe)).Find("data"));
}

void ChangesAProduct(Probe& probe, Finding& finding) {
  if (!HasDish(probe, finding)) return;
  const auto change = [&](std::string_view body) {
    return probe.Send({.method = "PATCH", .path = PathOf(probe), .body = std::string(body)});
  };
  const Reply described = change(R"({"description":"comanda selftest"})");
  if (!finding.Status(described, 200)) return;
  finding.Text(described, "data.description", "comanda selftest");
  finding.Text(described, "data.name", "Selftest dish");
  finding.Null(change(R"({"description":null})"), "data.description");
}

void ChangesAVariant(Probe& probe, Finding& finding) {
  if (!HasDish(probe, finding)) return;
  const std::string variant = probe.Get(PathOf(probe)).Text("data.variants.0.id");
  const Reply changed = probe.Send({.method = "PATCH",
                                    .path = PathOf(probe) + "/variants/" + variant,
                                    .body = Filled(R"({"price":$})", {probe.Amount(1500)})});
  if (!finding.Status(changed, 200)) return;
  finding.Text(changed, "data.id", variant);
  finding.Number(changed, "data.price", probe.Amount(1500));
  finding.Number(probe.Get(PathOf(probe)), "data.variants.0.price", probe.Amount(1500));
}

Reply SellOut(Probe& probe, std::string_view method, const std::string& body) {
  return probe.Send(
      {.method = std::string(method), .path = PathOf(probe) + "/sold-out", .body = body});
}

std::string Until(int64_t from_now_ms) {
  return R"({"until":")" + FormatInstant(SystemClock().Now() + from_now_ms) + "\"}";
}

void IsSoldOutForAWhile(Probe& probe, Finding& finding) {
  if (!HasDish(probe, finding)) return;
  const std::string body = Until(kHourMs);
  const Reply said = SellOut(probe, "PUT", body);
  if (!finding.Status(said, 200)) return;
  finding.Boolean(said, "data.available", false);
  finding.Set(said, "data.sold_out.since");
  finding.Set(said, "data.sold_out.by");
  finding.Same("data.sold_out.until", body.substr(10, body.size() - 12),
               said.Text("data.sold_out.until"));
  finding.Null(SellOut(probe, "PUT", R"({"until":null})"), "data.sold_out.until");
  const Reply ended = SellOut(probe, "DELETE", "");
  finding.Status(ended, 200);
  finding.Null(ended, "data.sold_out");
  finding.Null(SellOut(probe, "DELETE", ""), "data.sold_out");
}

void RefusesBadEnds(Probe& probe, Finding& finding) {
  if (!HasDish(probe, finding)) return;
  finding.Invalid(SellOut(probe, "PUT", "{}"), "until", "required");
  finding.Invalid(SellOut(probe, "PUT", Until(-24 * kHourMs)), "until", "out_of_range");
  finding.Invalid(SellOut(probe, "PUT", Until(9 * 24 * kHourMs)), "until", "out_of_range");
  finding.Invalid(SellOut(probe, "PUT", R"({"until":"tomorrow"})"), "until", "invalid_format");
}

constexpr auth::ScopeSet kMenu = Needs(Scope::kMenuRead, Scope::kMenuWrite);
constexpr auth::ScopeSet kSellsOut = Needs(Scope::kMenuWrite, Scope::kKitchenWrite);

constexpr std::array kChecks = {
    Check{"A product is created with one variant", "9",
          "A one-price product has one variant named Default", Stage::kKey, kMenu, CreatesAProduct},
    Check{"A sku belongs to one variant", "9", "A sku is unique per company: 422 sku_taken",
          Stage::kKey, kMenu, RefusesATakenSku},
    Check{"A bulk upsert can be sent again", "9",
          "The same body again: all unchanged, updated_at untouched", Stage::kKey, kMenu,
          RepeatsAnUpsert, Promise::kContract},
    Check{"A bulk upsert is all or nothing", "9", "All or nothing; every bad row is listed",
          Stage::kKey, kMenu, UpsertsAllOrNothing, Promise::kContract},
    Check{"A product is changed in part", "9", "PATCH product: partial; null clears", Stage::kKey,
          kMenu, ChangesAProduct},
    Check{"A variant's price is changed", "19", "Variant endpoints answer the variant", Stage::kKey,
          kMenu, ChangesAVariant},
    Check{"A dish is sold out until an instant", "9",
          "Sold out for a while: PUT and DELETE /v1/menu/products/{id}/sold-out", Stage::kKey,
          kSellsOut, IsSoldOutForAWhile, Promise::kContract},
    Check{"An end of sold-out that cannot be is refused", "9",
          "until in the past or more than 8 days ahead: out_of_range", Stage::kKey, kSellsOut,
          RefusesBadEnds, Promise::kContract},
};

}  // namespace

std::span<const Check> MenuChecks() { return kChecks; }

}  // namespace comanda::selftest
