// Whole requests to the whole program, without the socket: a line "METHOD TARGET", header lines, an
// empty line, the body. {order}, {combo}, {payment}, {discount}, {product}, {variant} and {key}
// stand for ids that are there.

#include <algorithm>
#include <array>
#include <map>
#include <regex>

#include "app/embedded.h"
#include "app/import.h"
#include "app/routes.h"
#include "base/gzip.h"
#include "base/heartbeat.h"
#include "base/log.h"
#include "delivery/delivery.h"
#include "events/log.h"
#include "fuzz/fuzz.h"
#include "kitchen/watch.h"
#include "orders/orders.h"
#include "support/api.h"
#include "webhooks/graces.h"

namespace comanda {
namespace {

using fuzz::Must;

constexpr int kRequestsPerDatabase = 20'000;
constexpr std::string_view kDemoId = "0192f0a0-0001-7000-8000-000000000001";
constexpr std::string_view kProductId = "0192f0a0-0070-7000-8000-000000000001";

class Box {
 public:
  Box() {
    log::SetLevel(log::Level::kError);
    app::Import(*api_.database, app::DemoJson());
    api_.site.readiness = [] { return std::vector<http::Readiness>(); };
    api_.site.read_event_body = events::BodyOf;
    api_.site.delivery = &delivery_;
    api_.site.graces = &graces_;
    api_.site.kitchen = &kitchen_;
    api_.site.displays_of = [this](db::CompanyId company) { return kitchen_.DisplaysOf(company); };
    api_.long_polls.Stop();  // no fuzzer waits
    api_.key = api_.AddKey(auth::ScopeSet::All());
    auth::KeyRecord record = *api_.keys.All().front();
    record.company = DemoNumber();
    record.company_uuid = kDemoId;
    record.tier = auth::Tier::kUnlimited;
    api_.keys.Put(record);
    ids_["product"] = kProductId;
    ids_["key"] = record.id;
  }

  wire::Response Send(http::Method method, std::string_view target,
                      const testing::Api::Headers& headers, const std::string& body) {
    return api_.Send(method, target, body, headers).response;
  }

  // The text with every {name} replaced by an id that is there.
  std::string Filled(std::string_view text) {
    std::string out;
    while (!text.empty()) {
      const size_t open = std::min(text.find('{'), text.size());
      const size_t close = text.find('}', open);
      out += text.substr(0, open);
      text.remove_prefix(open);
      if (close == std::string_view::npos) break;
      const std::string name(text.substr(1, close - open - 1));
      if (name == "order" || name == "combo" || name == "payment" || name == "discount") Prepare();
      const auto id = ids_.find(name);
      if (id == ids_.end()) {
        out += text.front();
        text.remove_prefix(1);
      } else {
        out += id->second;
        text.remove_prefix(close - open + 1);
      }
    }
    return out + std::string(text);
  }

 private:
  db::CompanyId DemoNumber() {
    return api_.database->Read([](db::Snapshot& snapshot) {
      const auto number = snapshot.FindInt("SELECT company_id FROM company WHERE id = $1", kDemoId);
      Must(number.has_value(), "the demo restaurant is there");
      return db::CompanyId{*number};
    });
  }

  // An order of this request's own, with a row of each kind.
  void Prepare() {
    if (ids_.contains("order")) return;
    const auto sent = [&](std::string_view path, std::string body) {
      const wire::Response answer =
          Send(http::Method::kPost, path, {{"Idempotency-Key", "p" + std::to_string(++prepared_)}},
               std::move(body));
      Must(answer.status < 300, "an order is prepared: " + answer.Body());
      return json::Document::Parse(answer.Body());
    };
    const auto id_in = [](const json::Document& answer, std::string_view list) {
      const json::Value data = *answer.root().Find("data");
      const json::Value row = list.empty() ? data : data.Find(list)->items().front();
      return std::string(row.Find("id")->text());
    };
    ids_["order"] = id_in(sent("/v1/orders", R"({"service_type":"DELIVERY"})"), "");
    const std::string path = "/v1/orders/" + ids_["order"];
    ids_["combo"] =
        id_in(sent(path + "/combos",
                   R"({"combos":[{"product_name":"Ceviche","quantity":2,"variant_price":35}]})"),
              "combos");
    ids_["discount"] =
        id_in(sent(path + "/discounts", R"({"type":"PERCENTAGE","value":10})"), "discounts");
    ids_["payment"] = id_in(
        sent(path + "/payments", R"({"payment_method_code":"cash","amount":10})"), "payments");
  }

  testing::Api api_{app::AllRoutes(auth::Mode::kLive)};
  Heartbeats heartbeats_{api_.database.clock};
  webhooks::Graces graces_{api_.database.clock};
  delivery::Delivery delivery_{{.options = api_.options,
                                .clock = api_.database.clock,
                                .database = *api_.database,
                                .network = nullptr,
                                .heartbeats = heartbeats_,
                                .metrics = api_.database.registry}};
  kitchen::Watch kitchen_{{.name = "live",
                           .clock = api_.database.clock,
                           .database = *api_.database,
                           .wake_polls = [] {},
                           .has_thread = false},
                          heartbeats_,
                          api_.database.registry};
  std::map<std::string, std::string> ids_;
  int prepared_ = 0;

 public:
  void ForgetOrder() { ids_.erase("order"); }
};

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string PlainBody(const wire::Response& answer) {
  const std::string& body = answer.Body();
  if (!answer.gzipped) return body;
  return Gunzip({reinterpret_cast<const uint8_t*>(body.data()), body.size()});
}

// What a repeated request gets of a body that shows a secret (contract section 3).
std::string WithoutSecrets(const std::string& body) {
  static const std::regex secret(R"re("(key|secret)":"[\w+/=]{40,}")re");
  return std::regex_replace(body, secret, R"("$1":null)");
}

void CheckAnswer(const wire::Response& answer, std::string_view target) {
  Must(answer.status < 500 || answer.status == 501, "no request is our fault: " + answer.Body());
  const bool is_api =
      std::ranges::any_of(std::to_array<std::string_view>(
                              {"/v1/", "/auth/", "/box/", "/sandbox/", "/healthz", "/readyz"}),
                          [&](std::string_view start) { return target.starts_with(start); });
  if (answer.status >= 400) {
    Must(answer.content_type == "application/problem+json", "a refusal is a problem document");
    const json::Document document = json::Document::Parse(PlainBody(answer));
    const wire::ProblemRow* row = wire::FindRow(document.root().Find("code")->text());
    Must(row != nullptr && row->status == answer.status, "the code has that status");
  } else if (answer.status < 300 && answer.status != 204) {
    const bool is_json = answer.content_type.ends_with("json");
    Must(is_json || !is_api, "the API answers in JSON, pages alone in something else");
    if (is_json) static_cast<void>(json::Document::Parse(PlainBody(answer)));
  }
}

void Run(std::string_view input) {
  static std::unique_ptr<Box> box;
  static int requests = 0;
  if (!box || ++requests % kRequestsPerDatabase == 0) {
    box.reset();
    box = std::make_unique<Box>();
  }
  const std::string_view first = TakeLine(input);
  const size_t blank = std::min(first.find(' '), first.size());
  const auto method = wire::FindMethod(first.substr(0, blank));
  if (!method) return;
  box->ForgetOrder();
  const std::string target = box->Filled(first.substr(std::min(blank + 1, first.size())));
  // What no head may have: head.cc sees to it.
  const auto has_controls = [](std::string_view text) {
    return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  };
  if (!target.starts_with('/') || !IsUtf8(target) || has_controls(target)) return;

  bool has_idempotency_key = false;
  std::vector<std::pair<std::string, std::string>> headers;
  while (!input.empty()) {
    const std::string_view line = TakeLine(input);
    if (line.empty()) break;
    if (has_controls(line)) return;
    const size_t colon = std::min(line.find(':'), line.size());
    headers.emplace_back(line.substr(0, colon),
                         Trimmed(line.substr(std::min(colon + 1, line.size()))));
    has_idempotency_key |= AsciiEqualsIgnoreCase(headers.back().first, "Idempotency-Key");
  }
  const std::string body = box->Filled(input);
  const wire::Response answer = box->Send(*method, target, headers, body);
  CheckAnswer(answer, target);
  const bool is_write = *method != http::Method::kGet && *method != http::Method::kHead &&
                        *method != http::Method::kOptions;
  // These two routes take no API key and ignore the header Idempotency-Key (golden/routes.txt): a
  // repeated request makes another code.
  const bool is_open = target.starts_with("/auth/pair");
  if (!is_write || is_open || !has_idempotency_key || answer.status >= 300) return;
  const wire::Response again = box->Send(*method, target, headers, body);
  Must(again.status == answer.status && again.etag == answer.etag,
       "a request that is repeated is answered as then");
  Must(again.Body() == WithoutSecrets(answer.Body()),
       "a request that is repeated gets the same bytes, its secret excepted");
}

}  // namespace
}  // namespace comanda

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  comanda::Run(comanda::fuzz::TextOf(data, size));
  return 0;
}
