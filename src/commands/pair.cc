#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/storage.h"
#include "auth/roles.h"
#include "base/concat.h"
#include "base/problem.h"
#include "base/qr_code.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/key_flags.h"
#include "commands/terminal.h"
#include "json/reader.h"
#include "json/writer.h"
#include "wire/percent.h"

namespace comanda::commands {
namespace {

constexpr std::array kVerbs = {Verb{"requests", 0}, Verb{"accept", 1}, Verb{"refuse", 1}};

constexpr std::array kFlags = {
    kDataFlag,
    Flag{"env", "live|test", "a key of the live address (default) or of the sandbox"},
    kCompanyFlag,
    Flag{"as", "ROLE", "what the device is (listed below); then the command waits until it is in"},
    Flag{"name", "NAME", "the name of the device and of its key, e.g. \"Till 3\""},
    Flag{"scopes", "all|S,S…",
         "what the key may do (listed below); all: without api-keys:*, "
         "admin:* and orders:sync"},
    Flag{"tier", "TIER", "standard, plus, lan (default) or unlimited: requests a minute"},
    Flag{"address", "ADDR[:PORT]", "where the device reaches the box, instead of what is found"},
    Flag{"invert", "", "draw the QR code for dark text on a light background"},
    Flag{"no-wait", "",
         "with --as: end at once, and say nothing of the device that takes the code"},
    kJsonFlag,
    kHelpFlag,
};

// Nothing without --as.
std::optional<auth::Role> ReadAs(const Arguments& arguments) {
  const auto name = arguments.Find("as");
  if (!name) return std::nullopt;
  const std::optional<auth::Role> role = auth::FindRole(*name);
  if (role) return role;
  throw Refusal(Problem::kInvalidParameter,
                Concat({"--as is one of ", auth::RoleList(), ", not '", *name, "'"}));
}

std::string RequestBody(const Arguments& arguments, std::optional<auth::Role> role) {
  std::string body;
  json::Writer out(body);
  out.BeginObject().Key("name").Text(RequireFlag(arguments, "pair", "name"));
  if (role) {
    for (const std::string_view flag : {"scopes", "tier"}) {
      if (!arguments.Has(flag)) continue;
      throw Refusal(Problem::kInvalidParameter,
                    Concat({"--", flag, " comes from the role: leave it out beside --as"}));
    }
    out.Key("role").Text(Name(*role)).EndObject();
    return body;
  }
  out.Key("scopes").BeginArray();
  for (const std::string& scope : ScopeList(RequireFlag(arguments, "pair", "scopes"), false)) {
    out.Text(scope);
  }
  out.EndArray();
  if (const auto tier = arguments.Find("tier")) out.Key("tier").Text(*tier);
  out.EndObject();
  return body;
}

std::string Member(const json::Value& object, std::string_view name) {
  const auto value = object.Find(name);
  return value && value->kind() == json::Kind::kText ? std::string(value->text()) : std::string();
}

void Show(const Arguments& arguments, const std::string& uri, const std::string& expires_at) {
  if (arguments.Has("json")) {
    std::string text;
    json::Writer(text)
        .BeginObject()
        .Key("uri")
        .Text(uri)
        .Key("expires_at")
        .Text(expires_at)
        .EndObject();
    Print(text + "\n");
    return;
  }
  const std::optional<QrCode> code = MakeQrCode(uri);
  if (code) Print(QrCodeText(*code, arguments.Has("invert")));
  Print(Concat({uri, "\n\nWorks once, until ", expires_at,
                ". The key is listed by `comanda keys list` once a device has it.\n"}));
}

// Where a device has the name that was asked for, the new one has another (keys/keys.h).
std::string SayRenamed(const Arguments& arguments, const std::string& name) {
  const std::string wanted = arguments.Find("name").value_or("");
  if (name == wanted) return {};
  return Concat({"Another device is called ", Visible(wanted), ", so that this one is ",
                 Visible(name),
                 ". If it takes the place of that one, shut that one out: `comanda "
                 "keys list` shows it.\n"});
}

void SayTaken(const Arguments& arguments, const json::Value& data) {
  const std::string name = Member(data, "name");
  const std::string key_id = Member(data, "key_id");
  const std::string address = Member(data, "address");
  if (arguments.Has("json")) {
    std::string text;
    json::Writer out(text);
    out.BeginObject().Key("taken").Boolean(true);
    out.Key("key_id").Text(key_id).Key("name").Text(name).Key("address").Text(address);
    out.EndObject();
    Print(text + "\n");
    return;
  }
  const std::string from = address.empty() ? "" : Concat({" at ", Visible(address)});
  const std::string revoke =
      key_id.empty() ? "see `comanda keys list`" : Concat({"comanda keys revoke ", key_id});
  Print(Concat({"\n", Visible(name), from, " has taken the code. To shut it out: ", revoke, "\n",
                SayRenamed(arguments, name)}));
}

// Waits until a device has taken the code. Asks the server alone: a server that is being restarted
// must find its directory free.
int AwaitTaken(const Arguments& arguments, const config::Options& options, const std::string& id) {
  constexpr auto kPause = std::chrono::milliseconds(300);
  constexpr int64_t kTimeoutMs = 10'000;
  const ControlCall call = {.mode = ReadMode(arguments),
                            .method = "GET",
                            .path = "/control/pairing-codes/" + id,
                            .company_uuid = arguments.Find("company").value_or(""),
                            .body = ""};
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(11);
  bool was_answered = false;
  while (std::chrono::steady_clock::now() < end) {
    std::string trouble;
    const auto answer = AskServer(options, call, kTimeoutMs, trouble);
    if (!answer && !was_answered) {
      PrintError("the server does not run: start it, and the device can take the code");
      return kExitDone;
    }
    was_answered = true;
    if (!answer || answer->status == 503) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    if (answer->status != 200) return Refused(*answer);
    const json::Document document = json::Document::Parse(answer->body);
    const json::Value data = *document.root().Find("data");
    const std::string state = Member(data, "state");
    if (state == "open") {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    if (state != "used") break;
    SayTaken(arguments, data);
    return kExitDone;
  }
  PrintError("no device has taken the code, and it has ended; make a new one");
  return kExitRefused;
}

// What the QR code has before the code.
ControlAnswer AskUri(const Arguments& arguments, std::optional<auth::Role> role) {
  if (!app::DatabaseIsThere(ReadMode(arguments), ReadControlOptions(arguments)) &&
      ReadMode(arguments) == auth::Mode::kTest) {
    throw Refusal(Problem::kValidationFailed,
                  "the sandbox is off (sandbox_listen): no device can reach it");
  }
  std::string query;
  const auto add = [&](std::string_view name, std::string_view value) {
    query += Concat({query.empty() ? "?" : "&", name, "=", wire::PercentEncoded(value)});
  };
  if (role) add("role", Name(*role));
  if (const auto address = arguments.Find("address")) add("address", *address);
  return CallControl(arguments, "GET", "/control/pairing-uri" + query);
}

int MakeCode(const Arguments& arguments) {
  const config::Options options = ReadControlOptions(arguments);
  const std::optional<auth::Role> role = ReadAs(arguments);
  const std::string body = RequestBody(arguments, role);
  const ControlAnswer told = AskUri(arguments, role);
  if (told.status != 200) return Refused(told);
  const ControlAnswer answer = CallControl(arguments, "POST", "/control/pairing-codes", body);
  if (answer.status != 201) return Refused(answer);
  const json::Document uri = json::Document::Parse(told.body);
  const json::Document document = json::Document::Parse(answer.body);
  const json::Value data = *document.root().Find("data");
  Show(arguments, Member(*uri.root().Find("data"), "uri") + Member(data, "code"),
       Member(data, "expires_at"));
  if (!role || arguments.Has("no-wait")) return kExitDone;
  return AwaitTaken(arguments, options, Member(data, "id"));
}

int Requests(const Arguments& arguments) {
  const ControlAnswer answer = CallControl(arguments, "GET", "/control/pairing-requests");
  if (answer.status != 200) return Refused(answer);
  if (arguments.Has("json")) {
    Print(answer.body + "\n");
    return kExitDone;
  }
  const json::Document document = json::Document::Parse(answer.body);
  const std::vector<json::Value> requests = document.root().Find("data")->items();
  if (requests.empty()) Print("No device asks to be let in.\n");
  for (const json::Value& one : requests) {
    Print(Concat({Member(one, "number"), "  ", Member(one, "role"), "  ",
                  Visible(Member(one, "name")), "  ", Member(one, "address"), "  ",
                  Member(one, "asked_at"), "\n"}));
  }
  return kExitDone;
}

int Accept(const Arguments& arguments) {
  const std::string& number = arguments.Word(1, "number: comanda pair accept NUMBER", "pair");
  RequireFlag(arguments, "pair", "as");
  std::string body;
  json::Writer out(body);
  out.BeginObject().Key("number").Text(number);
  out.Key("role").Text(Name(*ReadAs(arguments)));
  out.Key("name").Text(RequireFlag(arguments, "pair", "name")).EndObject();
  const ControlAnswer answer = CallControl(arguments, "POST", "/box/devices/accept", body);
  if (answer.status != 200) return Refused(answer);
  const json::Document document = json::Document::Parse(answer.body);
  const json::Value data = *document.root().Find("data");
  Print(arguments.Has("json")
            ? answer.body + "\n"
            : Concat({Visible(Member(data, "name")),
                      " is let in. To shut it out: comanda keys revoke ", Member(data, "id"), "\n",
                      SayRenamed(arguments, Member(data, "name"))}));
  return kExitDone;
}

int Refuse(const Arguments& arguments) {
  const std::string& number = arguments.Word(1, "number: comanda pair refuse NUMBER", "pair");
  const ControlAnswer answer =
      CallControl(arguments, "DELETE", "/box/devices/requests/" + wire::PercentEncoded(number));
  if (answer.status != 200) return Refused(answer);
  Print(arguments.Has("json") ? answer.body + "\n" : "refused " + Visible(number) + "\n");
  return kExitDone;
}

std::string DescribeRoles() {
  std::string out;
  for (const auth::RoleRow& row : auth::kRoles) {
    std::string line = "  " + std::string(row.name);
    line.resize(24, ' ');
    out += line + std::string(row.is) + "\n";
  }
  return out;
}

}  // namespace

int Pair(Words words) {
  const std::string help =
      WithLines(WithLines(PairHelp(), "roles", DescribeRoles()), "scopes", DescribeScopes());
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, help);
  if (!arguments) return kExitDone;
  if (arguments->positional().empty()) return MakeCode(*arguments);
  const std::string_view verb = ReadVerb(*arguments, kVerbs, "pair");
  if (verb == "requests") return Requests(*arguments);
  if (verb == "accept") return Accept(*arguments);
  return Refuse(*arguments);
}

}  // namespace comanda::commands
