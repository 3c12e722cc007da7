#include "cloud/menu/menu_push.h"

#include <algorithm>
#include <utility>

#include "aliases/aliases.h"
#include "base/concat.h"
#include "base/decimal.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/text.h"
#include "cloud/orders/journal_store.h"
#include "cloud/link/link.h"
#include "cloud/menu/menu_body.h"
#include "cloud/restaurant/restaurant_rows.h"
#include "cloud/restaurant/restaurant_store.h"
#include "company/companies.h"
#include "company/import_row.h"
#include "events/types.h"
#include "json/writer.h"
#include "menu/catalogue.h"
#include "menu/fields.h"
#include "net/reply.h"
#include "wire/percent.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;

// The order id of the menu's steps.
constexpr std::string_view kMenuOrder;
constexpr std::string_view kProductPath = "/v1/menu/products/";
// Of a difference.
constexpr size_t kShownMax = 300;

// The products that an event names.
std::vector<std::string> ProductsOf(const events::StoredEvent& event) {
  if (event.subject_type != "product") return {};
  if (!event.subject_id.empty()) return {event.subject_id};
  std::vector<std::string> ids;
  const json::Document body = json::Document::ParseStored(event.body);
  for (const std::string_view list : {"created", "updated"}) {
    const auto named = net::Find(body.root(), list);
    if (!named || named->kind() != json::Kind::kArray) continue;
    for (const json::Value id : named->items()) {
      if (id.kind() == json::Kind::kText) ids.emplace_back(id.text());
    }
  }
  return ids;
}

std::string CategoryName(db::Session& session, db::CompanyId company, std::string_view id) {
  for (const menu::Category& category : menu::AllCategories(session, company)) {
    if (category.id == id) return category.name;
  }
  return "";
}

std::string BodyOf(db::Session& session, const company::Company& company,
                   const menu::Product& product) {
  const CloudId cloud_id = [&](Kind kind, std::string_view box_id) -> std::optional<std::string> {
    const auto alias = aliases::FindByBoxId(session, company.company_id, kind, box_id);
    if (!alias) return std::nullopt;
    return alias->cloud_id;
  };
  return PushBody(product, CategoryName(session, company.company_id, product.category_id),
                  company.currency_decimals, cloud_id);
}

// Adds the step to those of the menu.
void AddStep(db::Tx& tx, db::CompanyId company, Step step, const db::Stamp& stamp) {
  store::OrderRow row = store::FindOrder(tx, company, kMenuOrder).value_or(store::OrderRow{});
  step.position = ++row.mirror.last_position;
  store::InsertStep(tx, company, kMenuOrder, step);
  ++row.waiting;
  row.touched_at = stamp.now;
  store::PutOrder(tx, company, row);
}

std::string Cut(std::string text) {
  if (text.size() <= kShownMax) return text;
  size_t end = kShownMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

// "Lomo saltado: Personal 38, Familiar 60 (hidden)", of a local product or as the cloud shows it.
std::string Shown(const menu::Product& product, int decimals) {
  std::string text = product.name + ":";
  for (const menu::Variant& variant : product.variants) {
    text += Concat({text.ends_with(':') ? " " : ", ", variant.name, " "});
    if (variant.sent.fields == 0 || menu::IsSent(variant, &menu::Variant::price)) {
      AppendScaled(text, variant.price, decimals);
    } else {
      text += '-';
    }
  }
  return Cut(text + (product.visible ? "" : " (hidden)"));
}

// The texts that are empty locally and not in the cloud, as a PATCH clears them: a PUT leaves them
// as they are. Empty: there is none.
std::string ClearingBody(const menu::Product& here, const menu::Product& there) {
  std::string body;
  json::Writer out(body);
  out.BeginObject();
  const auto clear = [&](json::Name name, std::optional<std::string> menu::Product::*text) {
    if (!(here.*text) && there.*text) out.Key(name).Null();
  };
  clear("description", &menu::Product::description);
  clear("image_url", &menu::Product::image_url);
  clear("messages_for_customers", &menu::Product::messages_for_customers);
  out.EndObject();
  return body == "{}" ? "" : body;
}

// The body of an answer, where it is JSON.
std::optional<json::Document> Parsed(std::string_view text) {
  try {
    return json::Document::Parse(text);
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

void WriteDifference(db::Tx& tx, db::CompanyId company, std::string box, std::string cloud,
                     std::string detail, const db::Stamp& stamp) {
  log::Warning("a product differs between this box and the cloud",
               {{"box", box}, {"cloud", cloud}, {"what", detail}});
  store::InsertDifference(tx, company,
                          {.order_id = "",
                           .kind = DifferenceKind::kMenu,
                           .box = std::move(box),
                           .cloud = std::move(cloud),
                           .detail = std::move(detail)},
                          stamp.now);
}

// What the cloud has of the product is not known any more: the next reading takes it.
void ForgetCloudState(db::Tx& tx, db::CompanyId company, std::string_view product_id,
                      bool is_pushed) {
  auto state = store::FindMenuState(tx, company, product_id);
  if (!state) return;
  state->cloud_hash.clear();
  if (is_pushed) state->pushed_at = store::kNotShownYet;
  store::PutMenuState(tx, company, product_id, *state);
  const std::optional<Link> link = FindLink(tx, company);
  if (!link) return;
  // With the entity tag the cloud could answer that nothing is new. The last of several steps makes
  // the menu due.
  const auto visit = link->progress.find(kMenuPart);
  const bool is_last = WaitingProducts(tx, company).size() <= 1;
  const UtcMs at = is_last || visit == link->progress.end() ? 0 : visit->second.at;
  PutVisit(tx, company, kMenuPart, {.at = at, .etags = {}});
}

// The product's record in an answer, which is any of those that a server may give.
std::string IdInAnswer(std::string_view answer) {
  const auto document = Parsed(answer);
  if (!document) return "";
  for (const std::string_view path : {"data.products.0", "data.0", "data"}) {
    const auto product = net::Find(document->root(), path);
    if (!product) continue;
    if (std::string id = company::ShownId(*product); !id.empty()) return id;
  }
  return "";
}

}  // namespace

void NoteMenu(db::Tx& tx, db::CompanyId company) {
  const int decimals = company::Get(tx, company).currency_decimals;
  for (const std::string& id : store::AllProducts(tx, company)) {
    const auto product = menu::FindWhole(tx, company, id);
    if (!product || store::FindMenuState(tx, company, id)) continue;
    store::PutMenuState(tx, company, id,
                        {.cloud_hash = "", .box_hash = ContentHash(*product, decimals)});
  }
}

size_t PlanMenu(db::Tx& tx, db::CompanyId company_id, const events::StoredEvent& event,
                const db::Stamp& stamp) {
  const std::vector<std::string> ids = ProductsOf(event);
  if (ids.empty()) return 0;
  const company::Company company = company::Get(tx, company_id);
  size_t planned = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string& id = ids[i];
    const auto product = menu::FindWhole(tx, company_id, id);
    if (!product) continue;
    store::MenuState state = store::FindMenuState(tx, company_id, id).value_or(store::MenuState{});
    const std::string now = ContentHash(*product, company.currency_decimals);
    if (state.box_hash == now) continue;
    AddStep(tx, company_id,
            {.kind = StepKind::kMenu,
             .key = Concat({"c1-menu-", event.event_id, "-", i}),
             .body = BodyOf(tx, company, *product),
             .row_ids = {id},
             .occurred_at = event.at},
            stamp);
    state.box_hash = now;
    store::PutMenuState(tx, company_id, id, state);
    ++planned;
  }
  return planned;
}

std::optional<Request> LookBeforePush(db::Session& session, db::CompanyId company,
                                      const Step& step) {
  const auto alias = aliases::FindByBoxId(session, company, Kind::kProduct, step.row_ids.front());
  if (!alias) return std::nullopt;
  return Request{.path = Concat({kProductPath, wire::PercentEncoded(alias->cloud_id)})};
}

void NoteBeforePush(db::Tx& tx, db::CompanyId company_id, const Step& step, std::string_view answer,
                    const db::Stamp& stamp) {
  const auto document = Parsed(answer);
  const auto record = document ? net::Find(document->root(), "data") : std::nullopt;
  if (!record || company::ShownId(*record).empty()) return;
  const auto product = menu::FindWhole(tx, company_id, step.row_ids.front());
  if (!product) return;
  const company::Company company = company::Get(tx, company_id);
  json::Errors ignored;  // a record that cannot be taken differs all the same
  const menu::Product there = menu::ReadShown(*record, company, "", ignored);
  NoteCloudEdit(tx, company, *product, there, stamp);
  const std::string body = ClearingBody(*product, there);
  if (body.empty()) return;
  AddStep(tx, company_id,
          {.kind = StepKind::kMenuClear,
           .key = step.key + "-clear",
           .body = body,
           .row_ids = step.row_ids,
           .occurred_at = step.occurred_at},
          stamp);
}

void NoteCloudEdit(db::Tx& tx, const company::Company& company, const menu::Product& box,
                   const menu::Product& shown, const db::Stamp& stamp) {
  auto state = store::FindMenuState(tx, company.company_id, box.id);
  const std::string fingerprint = Fingerprint(shown);
  if (!state || state->cloud_hash == fingerprint) return;
  if (state->cloud_hash.starts_with(kFingerprintForm)) {
    const int decimals = company.currency_decimals;
    WriteDifference(tx, company.company_id, Shown(box, decimals), Shown(shown, decimals),
                    "edited on both sides; that of this box wins", stamp);
  }
  state->cloud_hash = fingerprint;
  store::PutMenuState(tx, company.company_id, box.id, *state);
}

void TakePushed(db::Tx& tx, db::CompanyId company, const Step& step, std::string_view answer,
                const db::Stamp& stamp) {
  const std::string& id = step.row_ids.front();
  const std::string cloud_id = IdInAnswer(answer);
  if (!cloud_id.empty() && !aliases::FindByBoxId(tx, company, Kind::kProduct, id)) {
    const auto other = aliases::FindBoxId(tx, company, Kind::kProduct, cloud_id);
    if (other && *other != id) {
      WriteDifference(tx, company, id, cloud_id, "the cloud takes two products of this box for one",
                      stamp);
    } else {
      PutAlias(tx, company, Kind::kProduct, cloud_id, id);
    }
  }
  ForgetCloudState(tx, company, id, true);
}

bool IsLost(const store::MenuState& state, UtcMs changed_at, bool went_back) {
  const bool is_in_doubt = state.pushed_at == store::kNotShownYet || changed_at == 0;
  return is_in_doubt ? went_back : changed_at < state.pushed_at;
}

void PushAgain(db::Tx& tx, db::CompanyId company_id, const std::string& product_id,
               const std::string& fingerprint, bool knows_category, const db::Stamp& stamp) {
  const auto product = menu::FindWhole(tx, company_id, product_id);
  auto state = store::FindMenuState(tx, company_id, product_id);
  if (!product || !state) return;
  const company::Company company = company::Get(tx, company_id);
  if (!knows_category) aliases::Remove(tx, company_id, Kind::kCategory, product->category_id);
  const auto row = store::FindOrder(tx, company_id, kMenuOrder);
  const int64_t position = row ? row->mirror.last_position + 1 : 1;
  const int64_t epoch = events::ExtentOf(tx, company_id).epoch;
  AddStep(tx, company_id,
          {.kind = StepKind::kMenu,
           .key = Concat({"c1-menu-", epoch, "-", position}),
           .body = BodyOf(tx, company, *product),
           .row_ids = {product_id},
           .occurred_at = stamp.now},
          stamp);
  state->cloud_hash = fingerprint;  // no edit of the cloud
  store::PutMenuState(tx, company_id, product_id, *state);
  if (!fingerprint.empty()) return;
  WriteDifference(tx, company_id, Shown(*product, company.currency_decimals), "",
                  "the cloud does not have it any more, and this box has pushed it: sent again",
                  stamp);
}

void NoteChangedSince(db::Tx& tx, const company::Company& company, const menu::Product& box,
                      const menu::Product& shown, const db::Stamp& stamp) {
  const int decimals = company.currency_decimals;
  WriteDifference(
      tx, company.company_id, Shown(box, decimals), Shown(shown, decimals),
      "the cloud may have gone back and has changed it since; that of the cloud is taken", stamp);
}

void RemovePush(db::Tx& tx, db::CompanyId company, const Waiting& waiting) {
  if (!store::HasStep(tx, company, waiting)) return;
  store::DeleteStep(tx, company, waiting);
  auto row = store::FindOrder(tx, company, kMenuOrder);
  if (!row) return;
  --row->waiting;
  store::PutOrder(tx, company, *row);
}

void DropPush(db::Tx& tx, db::CompanyId company_id, const Step& step, std::string_view problem,
              const db::Stamp& stamp) {
  const std::string& id = step.row_ids.front();
  const auto product = menu::FindWhole(tx, company_id, id);
  const int decimals = company::Get(tx, company_id).currency_decimals;
  WriteDifference(tx, company_id, product ? Shown(*product, decimals) : id, Cut(Visible(problem)),
                  "the cloud refuses a change made at this box", stamp);
  ForgetCloudState(tx, company_id, id, false);
}

std::vector<std::string> WaitingProducts(db::Session& session, db::CompanyId company) {
  return store::WaitingMenuRows(session, company);
}

}  // namespace comanda::cloud
