#pragma once

// A dispatcher on a RestaurantDatabase, and functions that send it requests as a client would.

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "crypto/hash.h"
#include "http/dispatch.h"
#include "json/reader.h"
#include "support/restaurant_database.h"

namespace comanda::testing {

// The companies that a request of the command line may mean, as the company room finds them.
inline std::vector<http::CompanyName> FindCompanies(db::Session& session,
                                                    const std::optional<std::string>& uuid,
                                                    size_t limit) {
  static constexpr db::Sql kSelect =
      "SELECT company_id, id, name FROM company WHERE $1 IS NULL OR id = $1"
      " ORDER BY company_id LIMIT $2";
  std::vector<http::CompanyName> found;
  auto rows = session.Query<kSelect>(uuid, static_cast<int64_t>(limit));
  while (rows.Next()) {
    found.push_back({rows.Company("company_id"), rows.Text("id"), rows.Text("name")});
  }
  return found;
}

struct Answer {
  wire::Response response;
  int status() const { return response.status; }
  std::string Header(std::string_view name) const {
    for (const auto& [header, value] : response.headers) {
      if (AsciiEqualsIgnoreCase(header, name)) return value;
    }
    return "";
  }
  // The text of a member of the body, or of its `data`; empty where there is none.
  std::string Text(std::string_view member) const {
    const json::Document document = json::Document::Parse(response.body);
    json::Value root = document.root();
    if (const auto data = root.Find("data"); data && data->kind() == json::Kind::kObject) {
      root = *data;
    }
    const auto value = root.Find(member);
    return value && value->kind() == json::Kind::kText ? std::string(value->text()) : "";
  }
  std::string code() const { return Text("code"); }
};

class Api {
 public:
  explicit Api(std::vector<std::span<const http::Route>> tables)
      : dispatcher_(site, std::move(tables)) {}

  using Headers = std::vector<std::pair<std::string, std::string>>;

  // A key of the company with these scopes, known to the gate.
  std::string AddKey(auth::ScopeSet scopes, db::CompanyId company = kCompany,
                     std::string id = "0190a5c8-0000-7000-8000-000000000001") {
    const std::string made = auth::MakeKey("cmd", auth::Mode::kLive);
    const crypto::Sha256Digest digest = crypto::Sha256(made);
    auth::KeyRecord record;
    record.id = std::move(id);
    record.company = company;
    record.company_uuid = company == kCompany ? kCompanyId : kOtherCompanyId;
    record.hash = {reinterpret_cast<const char*>(digest.data()), digest.size()};
    record.scopes = scopes;
    record.tier = auth::Tier::kLan;
    keys.Put(record);
    return made;
  }

  // `target` is path and query. Sends the member `key`; if that is "local", the request comes from
  // the control socket, for `local_company` unless the headers name a company.
  Answer Send(http::Method method, std::string_view target, std::string body = "",
              Headers headers = {}) {
    const bool is_local = key == "local";
    if (!key.empty() && !is_local) headers.emplace_back("X-API-Key", key);
    const bool says_which = std::ranges::any_of(
        headers, [](const auto& header) { return header.first == "X-Company-Id"; });
    if (is_local && !says_which && !local_company.empty()) {
      headers.emplace_back("X-Company-Id", local_company);
    }
    wire::InProcessExchange exchange(std::move(body));
    wire::Request& request = exchange.request;
    request.method = method;
    request.path = target.substr(0, target.find('?'));
    if (request.path.size() < target.size()) request.query = target.substr(request.path.size() + 1);
    for (const auto& [name, value] : headers) request.headers.emplace_back(name, value);
    request.client_address = "10.0.0.9";
    request.request_id = "r1";
    request.local = is_local;
    dispatcher_.Handle(exchange);
    return {std::move(exchange.response)};
  }
  Answer Get(std::string_view target, Headers headers = {}) {
    return Send(http::Method::kGet, target, "", std::move(headers));
  }

  RestaurantDatabase database;
  config::Options options = [] {
    config::Options made;
    made.errors_base = "https://comanda.example/problems";
    made.key_prefix = "cmd";
    return made;
  }();
  std::string_view local_company = kCompanyId;
  auth::KeyTable keys;
  auth::Gate gate{{}, keys, database.clock};
  http::LongPolls long_polls{1};
  http::AnswerCache answers{1024 * 1024};
  http::AnswerBudget answer_budget;
  db::DiskSpace space{{.directory = database.directory.path(),
                       .low_bytes = 0,
                       .tight_bytes = 0,
                       .orders_only_bytes = 0,
                       .ballast_bytes = 0},
                      database.registry};
  http::Site site{.mode = auth::Mode::kLive,
                  .options = options,
                  .clock = database.clock,
                  .database = *database,
                  .space = space,
                  .gate = gate,
                  .metrics = database.registry,
                  .readiness = {},
                  .long_polls = long_polls,
                  .answers = answers,
                  .answer_budget = answer_budget,
                  .find_companies = FindCompanies};
  std::string key;

 private:
  http::Dispatcher dispatcher_;
};

}  // namespace comanda::testing
