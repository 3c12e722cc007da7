#pragma once

// A cloud whose records a test writes as JSON, and a box that is linked with it, for the parts of
// sync that read and change the restaurant's own records.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aliases/aliases.h"
#include "app/import.h"
#include "base/concat.h"
#include "clients/api.h"
#include "cloud/link/line.h"
#include "cloud/link/link.h"
#include "cloud/menu/menu_push.h"
#include "cloud/restaurant/restaurant.h"
#include "company/api.h"
#include "company/companies.h"
#include "events/log.h"
#include "menu/api.h"
#include "menu/catalogue.h"
#include "support/api.h"
#include "users/api.h"

namespace comanda::testing {

inline cloud::Reply CloudAnswer(int status, std::string body, std::string_view etag = "") {
  cloud::Reply reply;
  net::Answer answer{.status = status, .body = std::move(body)};
  if (!etag.empty()) answer.headers.emplace_back("ETag", etag);
  reply.answer = net::Reply(std::move(answer));
  if (status == 200) {
    reply.verdict = reply.answer.Find("data") ? cloud::Verdict::kOk : cloud::Verdict::kLater;
  } else if (status == 304) {
    reply.verdict = cloud::Verdict::kNotModified;
  } else if (status >= 400 && status < 500) {
    reply.verdict = cloud::Verdict::kRefused;
  }
  if (reply.verdict == cloud::Verdict::kLater) {
    reply.reachability = cloud::Reachability::kUnusable;
  }
  return reply;
}

// A list of one page.
inline std::string ListOf(std::string_view rows, bool has_more = false) {
  return Concat(
      {R"({"data":[)", rows, R"(],"pagination":{"has_more":)", has_more ? "true" : "false", "}}"});
}

inline std::string MenuOf(std::string_view categories) {
  return Concat({R"({"data":{"categories":[)", categories, "]}}"});
}

class ListedCloud : public cloud::Line {
 public:
  cloud::Reply Ask(const cloud::Request& request) override {
    asked.push_back(request.path);
    if (answer) return answer(request);
    const std::string path = request.path.substr(0, request.path.find('?'));
    const auto body = bodies.find(path);
    if (body == bodies.end()) return CloudAnswer(404, R"({"status":404})");
    const auto etag = etags.find(path);
    if (etag == etags.end()) return CloudAnswer(200, body->second);
    if (request.etag == etag->second) return CloudAnswer(304, "");
    return CloudAnswer(200, body->second, etag->second);
  }
  // How often a path was asked for.
  int64_t Count(std::string_view path) const {
    return std::ranges::count_if(
        asked, [&](const std::string& one) { return one.substr(0, one.find('?')) == path; });
  }

  std::map<std::string, std::string> bodies, etags;  // by path, without the query
  std::function<cloud::Reply(const cloud::Request&)> answer;
  std::vector<std::string> asked;
};

// The endpoints that show a restaurant's own records.
inline std::vector<std::span<const http::Route>> RestaurantRoutes() {
  return {company::Routes(), menu::Routes(), users::Routes(), clients::Routes()};
}

class LinkedBox {
 public:
  LinkedBox() {
    api.key = "local";
    database->Write([&](db::Tx& tx, const db::Stamp&) {
      cloud::NoteMenu(tx, kCompany);
      cloud::Link link{.url = "https://cloud.example", .cloud_company_id = "c"};
      link.features.has_tables = true;
      link.planned_seq = events::ExtentOf(tx, kCompany).last;
      cloud::PutLink(tx, kCompany, link);
    });
    there.bodies = {{"/v1/company", R"({"data":{"id":"c"}})"},
                    {"/v1/company/payment-methods", ListOf("")},
                    {"/v1/company/tables", ListOf("")},
                    {"/v1/menu", MenuOf("")},
                    {"/v1/users", ListOf("")},
                    {"/v1/clients", ListOf("")}};
  }

  cloud::Linked Linked() {
    return *database->Read([](db::Snapshot& snapshot) { return cloud::FindLinked(snapshot); });
  }
  // Reads what is due.
  void Read() { restaurant.Read(Linked(), there); }
  // Reads everything.
  void ReadAll() {
    database.clock.Advance(3'700'000);
    Read();
  }
  // Plans the changes of the menu, as the worker does. The number of new steps.
  size_t Plan() {
    return database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      const int64_t planned = cloud::FindLink(tx, kCompany)->planned_seq;
      size_t steps = 0;
      for (const events::StoredEvent& event : events::ReadAfter(tx, kCompany, planned, 1'000)) {
        steps += cloud::PlanMenu(tx, kCompany, event, stamp);
        cloud::PutPlannedSeq(tx, kCompany, event.seq);
      }
      return steps;
    });
  }

  // Changes a product as a request to this box does. Its id.
  std::string Change(const menu::Form& form, std::string_view body, std::string_view id = "",
                     std::string_view variant_id = "") {
    return database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
      const company::Company company = company::Get(tx, kCompany);
      const json::Document document = json::Document::Parse(body);
      json::Errors errors;
      menu::Draft draft = menu::ReadBody({document, json::UnknownFields::kRefused}, form, company,
                                         stamp.now, errors);
      errors.ThrowIfAny();
      draft.products.front().sent.has_id = !id.empty();
      if (!id.empty()) draft.products.front().id = id;
      if (!variant_id.empty()) draft.products.front().variants.front().id = variant_id;
      return menu::WriteOne(tx, company, draft, stamp).id;
    });
  }
  menu::Product Product(std::string_view id) {
    return database->Read(
        [&](db::Snapshot& snapshot) { return menu::GetProduct(snapshot, kCompany, id); });
  }
  void Import(std::string_view lists) { app::Import(*database, Document(lists)); }
  static std::string Document(std::string_view lists) {
    return Concat({R"({"companies":[{"id":")", kCompanyId,
                   R"(","name":"La Terraza","country_code":"PE","timezone":"America/Lima",)"
                   R"("currency":"PEN",)",
                   lists, "}]}"});
  }

  // "id|name|…" of each row.
  std::vector<std::string> Rows(db::Sql sql) {
    return database->Read([&](db::Snapshot& snapshot) { return snapshot.FindTexts(sql); });
  }
  std::vector<std::string> Differences() {
    return Rows(
        "SELECT kind || ' ' || cloud || ' ' || detail FROM cloud_difference"
        " ORDER BY number");
  }
  std::string BoxId(aliases::Kind kind, std::string_view cloud_id) {
    return database
        ->Read([&](db::Snapshot& snapshot) {
          return aliases::FindBoxId(snapshot, kCompany, kind, cloud_id);
        })
        .value_or("");
  }
  int64_t LastSeq() {
    return database->Read(
        [](db::Snapshot& snapshot) { return events::ExtentOf(snapshot, kCompany).last; });
  }

  Api api{RestaurantRoutes()};
  RestaurantDatabase& database = api.database;
  ListedCloud there;
  cloud::Restaurant restaurant{
      {.database = *database, .clock = database.clock, .plan = [this] { Plan(); }}};
};

}  // namespace comanda::testing
