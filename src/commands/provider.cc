#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "base/problem.h"
#include "base/text.h"
#include "commands/answer_values.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/terminal.h"
#include "delivery/embedded.h"
#include "delivery/provider_file.h"
#include "json/reader.h"
#include "json/writer.h"
#include "wire/percent.h"

namespace comanda::commands {
namespace {

constexpr std::array kVerbs = {Verb{"list", 0},   Verb{"add", 1},       Verb{"try", 1},
                               Verb{"remove", 1}, Verb{"mode", 2},      Verb{"parked", 1},
                               Verb{"retry", 1},  Verb{"cancelled", 2}, Verb{"check", 1},
                               Verb{"schema", 0}};

constexpr std::array kFlags = {
    kDataFlag,
    kCompanyFlag,
    Flag{"from", "FILE", "add: a JSON object with the credentials; - is the input"},
    Flag{"record", "", "try: also the app's answer, without secrets"},
    Flag{"accept", "WHEN", "mode primary: auto, or kitchen: by the status PREPARING (auto)"},
    Flag{"presence", "WHEN", "mode primary: watched, or always (watched)"},
    Flag{"reason", "TEXT", "cancelled: why"},
    kJsonFlag,
    kHelpFlag,
};

ControlAnswer Call(const Arguments& arguments, std::string method, std::string_view path,
                   std::string body = {}) {
  return CallControlOrRefuse(ReadControlOptions(arguments),
                             {.mode = auth::Mode::kLive,
                              .method = std::move(method),
                              .path = Concat({"/control/provider", path}),
                              .company_uuid = arguments.Find("company").value_or(""),
                              .body = std::move(body)});
}

std::string AppBody(const std::string& app) {
  std::string body;
  json::Writer(body).BeginObject().Key("app").Text(app).EndObject();
  return body;
}

// List

std::string StateOf(const json::Value& provider) {
  if (!IsTrue(provider, "tells_status")) return "not supported";
  if (!IsTrue(provider, "has_credentials")) {
    return IsTrue(provider, "is_in_country") ? "not connected" : "not in this country";
  }
  const auto status = provider.Find("status");
  if (!status || status->is_null()) return "connected";
  const std::string reason = Field(*status, "reason");
  return Field(*status, "store_status") + (reason == "-" ? "" : Concat({" (", reason, ")"}));
}

int List(const Arguments& arguments) {
  const ControlAnswer answer = Call(arguments, "GET", "");
  if (arguments.Has("json")) {
    Print(answer.body + "\n");
    return kExitDone;
  }
  const json::Document document = json::Document::Parse(answer.body);
  for (const json::Value& provider : DataOf(document).items()) {
    std::string row = Field(provider, "app");
    row.resize(std::max<size_t>(row.size() + 2, 16), ' ');
    row += StateOf(provider);
    row.resize(std::max<size_t>(row.size() + 2, 40), ' ');
    if (IsTrue(provider, "tells_status")) {
      row += Concat(
          {"evidence: ", Field(provider, "evidence"), ", ", Field(provider, "evidence_date")});
    }
    if (IsTrue(provider, "tells_orders")) row += Concat({"  orders: ", Field(provider, "mode")});
    const std::string file = Field(provider, "file");
    if (!file.empty() && file != "-") row += Concat({"  providers.d/", file});
    Print(Concat({Trimmed(row), "\n"}));
    const std::string orders = Field(provider, "orders");
    if (orders.find(": ") != orders.npos) Print(Concat({"  ", orders, "\n"}));
  }
  return kExitDone;
}

// Add

// A line of the terminal; a secret is not shown while it is typed.
std::string AskFor(const std::string& name, bool is_secret) {
  PrintError(name + (is_secret ? " (not shown while you type):" : ":"));
  termios shown{};
  const bool is_hidden = is_secret && ::tcgetattr(STDIN_FILENO, &shown) == 0;
  if (is_hidden) {
    termios hidden = shown;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
  }
  std::string line;
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') line += byte;
  if (is_hidden) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
  return std::string(Trimmed(line));
}

std::string AskForAll(const Arguments& arguments, const std::string& app) {
  const ControlAnswer answer = Call(arguments, "GET", "");
  const json::Document document = json::Document::Parse(answer.body);
  for (const json::Value& provider : DataOf(document).items()) {
    if (Field(provider, "app") != app) continue;
    std::string body;
    json::Writer out(body);
    out.BeginObject();
    for (const json::Value& field : provider.Find("credentials")->items()) {
      const std::string name = Field(field, "name");
      out.KeyOf(name).Text(AskFor(name, IsTrue(field, "secret")));
    }
    out.EndObject();
    return body;
  }
  throw Refusal(Problem::kNotFound,
                Concat({"there is no app ", app, ": see comanda provider list"}));
}

int Add(const Arguments& arguments) {
  const std::string& app = arguments.Word(1, "app", "provider");
  const auto from = arguments.Find("from");
  const std::string credentials =
      from ? json::Document::Parse(ReadInput(*from)).Canonical() : AskForAll(arguments, app);
  std::string body;
  json::Writer(body)
      .BeginObject()
      .Key("app")
      .Text(app)
      .Key("credentials")
      .Raw(credentials)
      .EndObject();
  Call(arguments, "POST", "/add", std::move(body));
  Print(Concat({app, " is connected: `comanda provider try ", app, "` asks it\n"}));
  return kExitDone;
}

// Try

int Try(const Arguments& arguments) {
  const ControlAnswer answer =
      Call(arguments, "POST", "/try", AppBody(arguments.Word(1, "app", "provider")));
  const json::Document document = json::Document::Parse(answer.body);
  const json::Value found = DataOf(document);
  const json::Value status = *found.Find("status");
  const bool is_known = Field(status, "store_status") != "UNKNOWN";
  const int code = is_known ? kExitDone : kExitRefused;
  if (arguments.Has("json")) {
    Print(answer.body + "\n");
    return code;
  }
  Print(Concat({Field(status, "store_status"), "\n"}));
  for (const std::string_view name : {"reason", "until"}) {
    const std::string value = Field(status, name);
    if (value != "-") Print(Concat({name, "  ", value, "\n"}));
  }
  const std::string words = Field(found, "words");
  if (!words.empty()) Print(Concat({"the app's words  ", words, "\n"}));
  if (arguments.Has("record")) {
    Print(Concat({"\nstatus ", Field(found, "answer_status"), "\n", Field(found, "answer"), "\n"}));
  }
  return code;
}

int Remove(const Arguments& arguments) {
  const std::string& app = arguments.Word(1, "app", "provider");
  Call(arguments, "POST", "/remove", AppBody(app));
  Print(Concat({app, " is no longer connected\n"}));
  return kExitDone;
}

// Orders

int SetMode(const Arguments& arguments) {
  const std::string& app = arguments.Word(1, "app", "provider");
  const std::string& mode = arguments.Word(2, "off, mirror or primary", "provider");
  std::string body;
  json::Writer out(body);
  out.BeginObject();
  out.Key("app").Text(app);
  out.Key("mode").Text(mode);
  if (const auto accept = arguments.Find("accept")) out.Key("accept").Text(*accept);
  if (const auto presence = arguments.Find("presence")) out.Key("presence").Text(*presence);
  out.EndObject();
  Call(arguments, "POST", "/mode", std::move(body));
  Print(Concat({"orders of ", app, ": ", mode, "\n"}));
  return kExitDone;
}

int ListParked(const Arguments& arguments) {
  const auto& words = arguments.positional();
  const std::string query =
      words.size() > 1 ? Concat({"?app=", wire::PercentEncoded(words[1])}) : "";
  const ControlAnswer answer = Call(arguments, "GET", Concat({"/parked", query}));
  if (arguments.Has("json")) {
    Print(answer.body + "\n");
    return kExitDone;
  }
  const json::Document document = json::Document::Parse(answer.body);
  for (const json::Value& row : DataOf(document).items()) {
    Print(Concat({Field(row, "app"), "  ", Field(row, "what"), " ", Visible(Field(row, "id")),
                  "  order ", Visible(Field(row, "order")), "\n  ", Visible(Field(row, "problem")),
                  "\n"}));
  }
  return kExitDone;
}

int Retry(const Arguments& arguments) {
  std::string body;
  json::Writer(body)
      .BeginObject()
      .Key("id")
      .Text(arguments.Word(1, "id, or all", "provider"))
      .EndObject();
  const ControlAnswer answer = Call(arguments, "POST", "/retry", std::move(body));
  const json::Document document = json::Document::Parse(answer.body);
  Print(Concat({Field(DataOf(document), "retried"), " to be tried again\n"}));
  return kExitDone;
}

int NoteCancelled(const Arguments& arguments) {
  std::string body;
  json::Writer out(body);
  out.BeginObject();
  out.Key("app").Text(arguments.Word(1, "app", "provider"));
  out.Key("order").Text(arguments.Word(2, "app's number of the order", "provider"));
  if (const auto reason = arguments.Find("reason")) out.Key("reason").Text(*reason);
  out.EndObject();
  Call(arguments, "POST", "/cancelled", std::move(body));
  Print("the order will be cancelled\n");
  return kExitDone;
}

int Check(const Arguments& arguments) {
  const std::string& path = arguments.Word(1, "file", "provider");
  const std::string text = ReadInput(path);
  try {
    for (const delivery::Provider& provider : delivery::ReadProviders(text)) {
      Print(Concat({path, ": ", provider.name, ", ", provider.status ? "" : "not ",
                    "to be asked whether the store is open, ", provider.orders ? "" : "nor ",
                    "for orders\n"}));
    }
    return kExitDone;
  } catch (const Refusal& refusal) {
    for (const std::string& mistake : delivery::DescribeMistakes(text, refusal)) {
      PrintError(Concat({Visible(path), ": ", Visible(mistake)}));
    }
    return kExitRefused;
  }
}

}  // namespace

int Providers(Words words) {
  const std::optional<Arguments> read = ReadArguments(words, kFlags, ProviderHelp());
  if (!read) return kExitDone;
  const Arguments& arguments = *read;
  const std::string_view verb = ReadVerb(arguments, kVerbs, "provider");
  if (verb == "list") return List(arguments);
  if (verb == "add") return Add(arguments);
  if (verb == "try") return Try(arguments);
  if (verb == "remove") return Remove(arguments);
  if (verb == "mode") return SetMode(arguments);
  if (verb == "parked") return ListParked(arguments);
  if (verb == "retry") return Retry(arguments);
  if (verb == "cancelled") return NoteCancelled(arguments);
  if (verb == "check") return Check(arguments);
  Print(Concat({delivery::SchemaJson(), "\n"}));
  return kExitDone;
}

}  // namespace comanda::commands
