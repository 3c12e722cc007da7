#include "delivery/provider_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "base/address.h"
#include "base/concat.h"
#include "base/text.h"
#include "delivery/status/rules.h"
#include "json/reader.h"
#include "json/writer.h"
#include "net/url.h"
#include "wire/head.h"
#include "wire/percent.h"

namespace comanda::delivery {
namespace {

using json::ObjectReader;
using Op = Predicate::Op;

constexpr json::TextRule kText = {.max = 2'048, .card_numbers_refused = false};
constexpr json::TextRule kAnyText = {.max = 2'048, .min = 0, .card_numbers_refused = false};
constexpr size_t kListMax = 100;
constexpr std::string_view kToken = "token";

// The reasons that a rule may give, the last ones of Reason.
constexpr size_t kFirstRuleReason = static_cast<size_t>(Reason::kError);
const std::vector<std::string_view> kRuleReasons(kReasonNames.begin() + kFirstRuleReason,
                                                 kReasonNames.end());
constexpr std::array<std::string_view, 2> kMethods = {"GET", "POST"};
constexpr std::array<std::string_view, 2> kTokenKinds = {"header", "query"};

// The value with the name that the field has; `otherwise` where it is missing.
template <typename Enum, size_t kSize>
Enum ReadWord(ObjectReader& object, std::string_view field,
              const std::array<std::string_view, kSize>& names, Enum otherwise) {
  const auto word = object.OneOf(field, {names.begin(), names.end()});
  return word ? static_cast<Enum>(*word) : otherwise;
}

// The same of a field that must be there.
template <typename Enum, size_t kSize>
Enum RequireWord(ObjectReader& object, std::string_view field,
                 const std::array<std::string_view, kSize>& names, std::string_view message) {
  if (!object.Has(field)) object.Fail(field, FieldCode::kRequired, message);
  return ReadWord(object, field, names, Enum{});
}

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= 40 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '_';
  });
}

bool IsCountry(std::string_view text) {
  return text.size() == 2 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

// Name and countries, which every provider has.
void ReadNames(ObjectReader& file, Provider& provider) {
  provider.name = file.RequireText("provider_name", kText).value_or("");
  if (!provider.name.empty() && !IsName(provider.name)) {
    file.Fail("provider_name", FieldCode::kInvalidFormat,
              "must be of a-z, 0-9 and _, at most 40 characters");
  }
  provider.display_name = file.Text("display_name", kText).value_or(provider.name);
  provider.countries =
      file.Texts("countries", kListMax, kText).value_or(std::vector<std::string>{});
  if (provider.countries.empty() || !std::ranges::all_of(provider.countries, IsCountry)) {
    file.Fail("countries", FieldCode::kInvalidFormat,
              R"(must be a list of ISO 3166-1 codes like "PE")");
  }
}

// Reads one file. Mistakes are collected in `errors`.
class Reader {
 public:
  Reader(const json::Document& document, json::Errors& errors)
      : file_(document.root(), "", errors, json::UnknownFields::kRefused) {}

  Provider Read() {
    ReadNames(file_, provider_);
    ReadEvidence();
    ReadHosts();
    ReadCountryVariables();
    ReadVariables();
    ReadCredentials();
    if (auto token = file_.Object("token")) provider_.token = ReadToken(*token);
    if (auto status = file_.Object("status")) provider_.status = ReadStatus(*status);
    if (auto orders = file_.Object("orders")) provider_.orders = ReadOrders(*orders);
    if (auto limits = file_.Object("limits")) ReadLimits(*limits);
    if ((provider_.status || provider_.orders) && provider_.hosts.empty()) {
      file_.Fail("hosts", FieldCode::kRequired, "must name the hosts that are called");
    }
    file_.Finish();
    return std::move(provider_);
  }

 private:
  void ReadEvidence() {
    file_.RequireNumber("schema", {.min = 1, .max = 1});
    provider_.docs = file_.Text("docs", kText).value_or("");
    provider_.evidence = RequireWord<Evidence>(file_, "evidence", kEvidenceNames,
                                               "must be documents, sandbox or production");
    provider_.evidence_date = file_.RequireText("evidence_date", kText).value_or("");
  }

  void ReadHosts() {
    provider_.hosts = file_.Texts("hosts", kListMax, kText).value_or(std::vector<std::string>{});
    for (const std::string& host : provider_.hosts) {
      if (!ParseAddress(host) && host.find_first_of(":/[]") == host.npos) continue;
      file_.Fail("hosts", FieldCode::kNotAllowed,
                 "must be host names: no addresses, ports or URLs");
    }
  }

  void ReadCountryVariables() {
    const auto by_country = file_.Raw("by_country");
    if (!by_country) return;
    const bool is_object = by_country->kind() == json::Kind::kObject;
    for (const auto& [country, values] :
         is_object ? by_country->members()
                   : std::vector<std::pair<std::string_view, json::Value>>{}) {
      if (!IsCountry(country) || values.kind() != json::Kind::kObject) continue;
      for (const auto& [name, value] : values.members()) {
        if (value.kind() != json::Kind::kText || !IsName(name)) continue;
        provider_.by_country[std::string(country)][std::string(name)] = value.text();
        variable_names_.emplace(name);
      }
    }
    bool is_whole = is_object;
    for (const std::string& country : provider_.countries) {
      is_whole = is_whole && provider_.by_country[country].size() == variable_names_.size();
    }
    if (is_whole) return;
    file_.Fail(
        "by_country", FieldCode::kInvalidFormat,
        R"(must have the same texts for each country: {"PE": {"domain": "api.example.pe"}})");
  }

  // Those that are the same in every country are put into each.
  void ReadVariables() {
    for (const auto& [name, text] : ReadPairs(file_, "variables")) {
      for (const std::string& country : provider_.countries) {
        provider_.by_country[country][name] = text;
      }
      variable_names_.insert(name);
    }
  }

  void ReadCredentials() {
    for (ObjectReader& one : file_.Objects("credentials", kListMax, true)) {
      CredentialField field{.name = one.RequireText("name", kText).value_or("")};
      field.is_secret = one.Boolean("secret").value_or(false);
      if (!IsName(field.name) || field.name == kToken) {
        one.Fail("name", FieldCode::kInvalidFormat,
                 "must be of a-z, 0-9 and _, at most 40 characters, and not \"token\"");
      }
      one.Finish();
      provider_.credentials.push_back(std::move(field));
    }
  }

  // Templates

  // Whether a template may use a name: 'secret' ones are the token and secret credentials.
  enum class Kind : uint8_t { kUnknown, kPlain, kSecret };
  Kind KindOf(const std::string& name) const {
    if (name == kToken) return has_token_ ? Kind::kSecret : Kind::kUnknown;
    if (variable_names_.contains(name)) return Kind::kPlain;
    const auto found = std::ranges::find(provider_.credentials, name, &CredentialField::name);
    if (found == provider_.credentials.end()) return Kind::kUnknown;
    return found->is_secret ? Kind::kSecret : Kind::kPlain;
  }

  // Adds the error where the template has a mistake.
  void CheckTemplate(ObjectReader& object, std::string_view field, std::string_view text,
                     bool may_be_secret = true) {
    const auto names = NamesIn(text);
    if (!names) {
      object.Fail(field, FieldCode::kInvalidFormat, "has a ${ without a name and a }");
      return;
    }
    for (const std::string& name : *names) {
      const Kind kind = KindOf(name);
      if (kind == Kind::kUnknown) {
        object.Fail(field, FieldCode::kUnknownValue,
                    Concat({"uses ${", name,
                            "}, which is no credential of this file, no value of by_country or "
                            "variables, and no token"}));
      } else if (kind == Kind::kSecret && !may_be_secret) {
        object.Fail(field, FieldCode::kNotAllowed,
                    Concat({"has the secret ${", name,
                            "} in a URL: put it into a header or the body; only a token of the "
                            R"(kind "query" may be in URLs)"}));
      }
    }
  }

  void CheckUrl(ObjectReader& object, const std::string& url) {
    if (url.empty()) return;
    CheckTemplate(object, "url", url, secrets_in_urls_);
    const std::vector<Variables> alternatives = CountryAlternatives();
    for (const Variables& variables : alternatives) {
      Variables filled = variables;
      for (const CredentialField& field : provider_.credentials) filled[field.name] = "x";
      filled[std::string(kToken)] = "x";
      const net::ParsedUrl parsed = net::ParseUrl(Expand(url, filled, wire::PercentEncoded));
      const bool is_usable =
          parsed.wrong == net::UrlMistake::kNone && parsed.url.scheme == "https" &&
          std::ranges::find(provider_.hosts, parsed.url.host) != provider_.hosts.end();
      if (is_usable) continue;
      object.Fail("url", FieldCode::kInvalidFormat,
                  "must be an https URL whose host is one of `hosts`");
      return;
    }
  }

  std::vector<Variables> CountryAlternatives() const {
    std::vector<Variables> all;
    for (const auto& [country, values] : provider_.by_country) all.push_back(values);
    if (all.empty()) all.emplace_back();
    return all;
  }

  using Pairs = std::vector<std::pair<std::string, std::string>>;
  Pairs ReadPairs(ObjectReader& object, std::string_view field) {
    Pairs pairs;
    const auto value = object.Raw(field);
    if (!value) return pairs;
    const bool is_object = value->kind() == json::Kind::kObject;
    for (const auto& [name, text] :
         is_object ? value->members() : std::vector<std::pair<std::string_view, json::Value>>{}) {
      const bool is_line = text.kind() == json::Kind::kText && !HasControl(text.text()) &&
                           !HasControl(name) && CharacterCount(text.text()) <= kText.max;
      if (!is_line) continue;
      CheckTemplate(object, field, text.text());
      pairs.emplace_back(name, text.text());
    }
    if (!is_object || pairs.size() != value->members().size()) {
      object.Fail(field, FieldCode::kWrongType,
                  Concat({"must be an object of texts on one line, of at most ", kText.max,
                          " characters"}));
    }
    return pairs;
  }

  Pairs ReadHeaders(ObjectReader& object) {
    Pairs headers = ReadPairs(object, "headers");
    if (!std::ranges::all_of(headers, [](const auto& h) { return wire::IsToken(h.first); })) {
      object.Fail("headers", FieldCode::kInvalidFormat, "must have the names of headers");
    }
    return headers;
  }

  CallTemplate ReadCall(ObjectReader& object) {
    CallTemplate call;
    call.method = kMethods[ReadWord(object, "method", kMethods, size_t{0})];
    call.url = object.RequireText("url", kText).value_or("");
    CheckUrl(object, call.url);
    call.headers = ReadHeaders(object);
    call.form = ReadPairs(object, "form");
    call.json = ReadPairs(object, "json");
    call.raw_json = object.Text("raw_json", kText).value_or("");
    CheckTemplate(object, "raw_json", call.raw_json);
    const int bodies = !call.form.empty() + !call.json.empty() + !call.raw_json.empty();
    if (bodies > 1) {
      object.Fail("form", FieldCode::kNotAllowed, "of form, json and raw_json, name one");
    }
    call.body_ok = ReadPredicate(object, "body_ok").value_or(Predicate{});
    return call;
  }

  // Conditions

  std::string ReadPointer(ObjectReader& object, std::string_view field) {
    std::string pointer = object.Text(field, kAnyText).value_or("");
    if (!IsPointer(pointer)) {
      object.Fail(field, FieldCode::kInvalidFormat,
                  R"(must be a JSON Pointer like "/data/status")");
    }
    CheckTemplate(object, field, pointer);
    return pointer;
  }

  std::optional<Predicate> ReadPredicate(ObjectReader& object, std::string_view field) {
    const auto value = object.Raw(field);
    if (!value) return std::nullopt;
    auto predicate = PredicateOf(*value);
    if (!predicate) {
      object.Fail(
          field, FieldCode::kInvalidFormat,
          R"(must be one condition like {"eq": ["/status", "OPEN"]}: eq, ne, in, prefix, exists, )"
          "future, any, all, and, or, not, true, in_hours, with pointers that begin with / and "
          "known variables");
    }
    return predicate;
  }

  static std::optional<Op> OpNamed(std::string_view name) {
    constexpr std::array<std::string_view, 13> kNames = {
        "true",   "in_hours", "eq",  "ne",  "in", "prefix", "exists",
        "future", "any",      "all", "and", "or", "not"};
    const auto found = std::ranges::find(kNames, name);
    if (found == kNames.end()) return std::nullopt;
    return static_cast<Op>(found - kNames.begin());
  }

  // Nothing where it is malformed.
  std::optional<Predicate> PredicateOf(const json::Value& value) const {
    if (value.kind() != json::Kind::kObject || value.members().size() != 1) return std::nullopt;
    const auto [name, operand] = value.members().front();  // copies: members() is a temporary
    const auto op = OpNamed(name);
    if (!op) return std::nullopt;
    Predicate predicate{.op = *op};
    bool is_good = false;
    switch (*op) {
      case Op::kTrue:
      case Op::kInHours:
        is_good = operand.kind() == json::Kind::kBoolean && operand.boolean();
        break;
      case Op::kEq:
      case Op::kNe:
      case Op::kPrefix:
      case Op::kIn:
        is_good = ReadComparison(operand, predicate);
        break;
      case Op::kExists:
      case Op::kFuture:
        is_good = operand.kind() == json::Kind::kText;
        if (is_good) predicate.path = operand.text();
        break;
      case Op::kAny:
      case Op::kAll:
        is_good = ReadNested(operand, predicate);
        break;
      case Op::kNot:
        is_good = AddPart(operand, predicate);
        break;
      case Op::kAnd:
      case Op::kOr:
        is_good = operand.kind() == json::Kind::kArray && !operand.items().empty() &&
                  std::ranges::all_of(operand.items(), [&](const json::Value& item) {
                    return AddPart(item, predicate);
                  });
        break;
    }
    if (!is_good || !IsGoodPath(predicate.path)) return std::nullopt;
    return predicate;
  }

  bool IsGoodPath(std::string_view path) const {
    const auto names = NamesIn(path);
    return IsPointer(path) && names && std::ranges::all_of(*names, [&](const std::string& name) {
             return KindOf(name) != Kind::kUnknown;
           });
  }

  bool AddPart(const json::Value& value, Predicate& predicate) const {
    auto part = PredicateOf(value);
    if (part) predicate.parts.push_back(*std::move(part));
    return part.has_value();
  }

  // ["/path", scalar], for `in` ["/path", [scalar, …]].
  static bool ReadComparison(const json::Value& operand, Predicate& predicate) {
    if (operand.kind() != json::Kind::kArray || operand.items().size() != 2) return false;
    const json::Value path = operand.items().front(), compared = operand.items().back();
    if (path.kind() != json::Kind::kText) return false;
    predicate.path = path.text();
    const bool is_list = predicate.op == Op::kIn;
    if (is_list != (compared.kind() == json::Kind::kArray)) return false;
    for (const json::Value& one : is_list ? compared.items() : std::vector{compared}) {
      auto scalar = ScalarOf(one);
      if (!scalar) return false;
      predicate.values.push_back(*std::move(scalar));
    }
    return !predicate.values.empty() &&
           (predicate.op != Op::kPrefix || predicate.values.front().kind == Scalar::Kind::kText);
  }

  // {"path": "/*", "where": condition}.
  bool ReadNested(const json::Value& operand, Predicate& predicate) const {
    if (operand.kind() != json::Kind::kObject || operand.members().size() != 2) return false;
    const auto path = operand.Find("path"), where = operand.Find("where");
    if (!path || !where || path->kind() != json::Kind::kText) return false;
    predicate.path = path->text();
    return AddPart(*where, predicate);
  }

  // Parts of the file

  TokenSource ReadToken(ObjectReader& object) {
    TokenSource token;
    secrets_in_urls_ = token.is_in_query = ReadWord(object, "kind", kTokenKinds, 0) == 1;
    token.call = ReadCall(object);
    token.access = ReadPointer(object, "access");
    if (token.access.empty()) {
      object.Fail("access", FieldCode::kRequired, "must be a pointer to the token");
    }
    token.expires_in = ReadPointer(object, "expires_in");
    token.expires_at = ReadPointer(object, "expires_at");
    token.default_ttl_s =
        object.Number("default_ttl_s", {.min = 1, .max = 31'536'000}).value_or(token.default_ttl_s);
    token.renew_before_s =
        object.Number("renew_before_s", {.min = 0, .max = 86'400}).value_or(token.renew_before_s);
    object.Finish();
    has_token_ = true;
    return token;
  }

  StatusSource ReadStatus(ObjectReader& object) {
    StatusSource status;
    status.call = ReadCall(object);
    if (auto codes = ReadNumbers(object, "ok_http", 200, 299); !codes.empty()) {
      status.ok_http.assign(codes.begin(), codes.end());
    }
    const auto pending = ReadNumbers(object, "pending_http", 200, 299);
    status.pending_http.assign(pending.begin(), pending.end());
    status.pending_retry_ms = ReadNumbers(object, "pending_retry_ms", 100, 4'000);
    if (auto reauth = ReadPredicate(object, "body_reauth")) status.body_reauth = *reauth;
    if (auto signature = object.Object("signature")) status.signature = ReadSignature(*signature);
    std::vector<ObjectReader> rules = object.RequireObjects("rules", kRulesMax);
    for (ObjectReader& rule : rules) status.rules.push_back(ReadRule(rule));
    object.Finish();
    return status;
  }

  OrdersSource ReadOrders(ObjectReader& object) {
    OrdersSource orders;
    orders.dialect = RequireWord<Dialect>(object, "dialect", kDialectNames,
                                          "must be ifood, open_delivery, keeta or rappi");
    if (auto token = object.Object("token")) orders.token = ReadToken(*token);
    orders.base = object.RequireText("url", kText).value_or("");
    CheckUrl(object, orders.base);
    if (orders.base.ends_with('/')) {
      object.Fail("url", FieldCode::kInvalidFormat, "must not end with a slash");
    }
    orders.headers = ReadHeaders(object);
    if (auto signature = object.Object("signature")) {
      orders.signature = ReadSignature(*signature);
    }
    object.Finish();
    return orders;
  }

  SignatureSource ReadSignature(ObjectReader& object) {
    SignatureSource signature{.header = object.RequireText("header", kText).value_or(""),
                              .key = object.RequireText("key", kText).value_or("")};
    if (!wire::IsToken(signature.header)) {
      object.Fail("header", FieldCode::kInvalidFormat, "must be the name of a header");
    }
    CheckTemplate(object, "key", signature.key);
    object.Finish();
    return signature;
  }

  std::vector<int64_t> ReadNumbers(ObjectReader& object, std::string_view field, int64_t min,
                                   int64_t max) {
    std::vector<int64_t> numbers;
    const auto value = object.Raw(field);
    if (!value) return numbers;
    const bool is_list = value->kind() == json::Kind::kArray;
    for (const json::Value& item : is_list ? value->items() : std::vector<json::Value>{}) {
      const auto scalar = ScalarOf(item);
      int64_t number = 0;
      const std::string text = scalar ? scalar->text : "";
      std::from_chars(text.data(), text.data() + text.size(), number);
      if (number >= min && number <= max) numbers.push_back(number);
    }
    if (!is_list || numbers.size() != value->items().size()) {
      object.Fail(field, FieldCode::kOutOfRange,
                  Concat({"must be a list of whole numbers from ", min, " to ", max}));
    }
    return numbers;
  }

  Rule ReadRule(ObjectReader& object) {
    Rule rule;
    if (auto condition = ReadPredicate(object, "if")) {
      rule.condition = *std::move(condition);
    } else if (!object.Has("if")) {
      object.Fail("if", FieldCode::kRequired, "must be a condition");
    }
    rule.then = RequireWord<StoreStatus>(object, "then", kStoreStatusNames,
                                         "must be OPEN, PAUSED, CLOSED or UNKNOWN");
    if (const auto reason = object.OneOf("reason", kRuleReasons)) {
      rule.reason = static_cast<Reason>(kFirstRuleReason + *reason);
    }
    if (rule.then == StoreStatus::kPaused && rule.reason == Reason::kNone) {
      rule.reason = Reason::kPaused;
    }
    if (rule.then == StoreStatus::kUnknown && rule.reason == Reason::kNone) {
      rule.reason = Reason::kError;
    }
    rule.words_from = ReadPointer(object, "words_from");
    rule.until_from = ReadPointer(object, "until_from");
    object.Finish();
    return rule;
  }

  void ReadLimits(ObjectReader& object) {
    Limits& limits = provider_.limits;
    limits.connect_ms =
        object.Number("connect_ms", {.min = 100, .max = 2'000}).value_or(limits.connect_ms);
    limits.total_ms =
        object.Number("total_ms", {.min = 100, .max = 4'000}).value_or(limits.total_ms);
    limits.fresh_s = object.Number("min_interval_s", {.min = kFreshSecondsMin, .max = 3'600})
                         .value_or(limits.fresh_s);
    limits.bytes_max = object.Number("max_body", {.min = 1'024, .max = limits.bytes_max})
                           .value_or(limits.bytes_max);
    object.Finish();
  }

  ObjectReader file_;
  Provider provider_;
  std::set<std::string, std::less<>> variable_names_;
  bool has_token_ = false;        // ${token} is known
  bool secrets_in_urls_ = false;  // the app wants them there
};

// The value that a field's path names, or the last one on the way to it.
size_t OffsetOf(const json::Value& root, std::string_view path) {
  json::Value value = root;
  while (!path.empty()) {
    const size_t end = std::min(path.find_first_of(".["), path.size());
    const std::string_view name = path.substr(0, end);
    std::optional<json::Value> next = value;
    if (!name.empty()) {
      next = value.kind() == json::Kind::kObject ? value.Find(name) : std::nullopt;
    }
    path.remove_prefix(end);
    if (next && path.starts_with('[')) {
      size_t index = 0;
      std::from_chars(path.data() + 1, path.data() + path.size(), index);
      const bool is_there = next->kind() == json::Kind::kArray && index < next->items().size();
      next = is_there ? std::optional(next->items()[index]) : std::nullopt;
      path.remove_prefix(std::min(path.find(']') + 1, path.size()));
    }
    if (path.starts_with('.')) path.remove_prefix(1);
    if (!next) break;
    value = *next;
  }
  return value.offset();
}

Provider ReadOne(const json::Document& document) {
  json::Errors errors;
  Provider provider = Reader(document, errors).Read();
  errors.ThrowIfAny();
  return provider;
}

// A file of one of `providers`: its members, and those beside that list that it has not itself.
std::string Merged(const json::Value& file, const json::Value& app) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  for (const auto& [name, value] : file.members()) {
    if (name != "providers" && !app.Find(name)) out.KeyOf(name).Raw(value.Canonical());
  }
  for (const auto& [name, value] : app.members()) out.KeyOf(name).Raw(value.Canonical());
  out.EndObject();
  return text;
}

}  // namespace

std::vector<Provider> ReadProviders(std::string_view text) {
  if (text.size() > kFileBytesMax) {
    throw Refusal(Problem::kValidationFailed,
                  Concat({"The file has ", text.size(), " bytes; at most ", kFileBytesMax,
                          " are accepted."}));
  }
  const json::Document document = json::Document::Parse(text);
  const json::Value root = document.root();
  if (root.kind() != json::Kind::kObject || !root.Find("providers")) return {ReadOne(document)};
  json::Errors errors;
  ObjectReader file(root, "", errors, json::UnknownFields::kIgnored);
  for (ObjectReader& app : file.RequireObjects("providers", kListMax))
    app.RequireText("provider_name", kText);
  errors.ThrowIfAny();
  std::vector<Provider> providers;
  for (const json::Value& app : root.Find("providers")->items()) {
    try {
      providers.push_back(ReadOne(json::Document::Parse(Merged(root, app))));
    } catch (Refusal& refusal) {
      for (FieldError& error : refusal.errors) {
        if (!app.Find(error.field.substr(0, error.field.find_first_of(".[")))) continue;
        error.field = Concat({"providers[", providers.size(), "].", error.field});
      }
      throw;
    }
  }
  return providers;
}

std::vector<Provider> ReadUnsupported(std::string_view text) {
  const json::Document document = json::Document::Parse(text);
  json::Errors errors;
  std::vector<Provider> providers;
  for (const json::Value& item : document.root().items()) {
    ObjectReader object(item, "", errors, json::UnknownFields::kRefused);
    ReadNames(object, providers.emplace_back());
    object.Finish();
  }
  errors.ThrowIfAny();
  return providers;
}

std::vector<std::string> DescribeMistakes(std::string_view text, const Refusal& refusal) {
  if (refusal.errors.empty()) return {refusal.detail};
  std::vector<std::string> mistakes;
  const json::Document document = json::Document::Parse(text);
  for (const FieldError& error : refusal.errors) {
    const size_t offset = OffsetOf(document.root(), error.field);
    const auto line = 1 + std::ranges::count(text.substr(0, offset), '\n');
    mistakes.push_back(Concat({"line ", line, ": ", error.field, ": ", error.message}));
  }
  return mistakes;
}

}  // namespace comanda::delivery
