#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "app/answer_values.h"
#include "app/arguments.h"
#include "app/commands.h"
#include "app/control.h"
#include "app/terminal.h"
#include "base/concat.h"
#include "base/problem.h"
#include "base/text.h"
#include "delivery/embedded.h"
#include "delivery/provider_file.h"
#include "json/reader.h"
#include "json/writer.h"

namespace comanda::app {
namespace {

constexpr std::array kFlags = {
    kDataFlag,
    kCompanyFlag,
    Flag{"from", "FILE", "add: a JSON object with the credentials; - is the input"},
    Flag{"record", "", "try: also the app's answer, without secrets"},
    kJsonFlag,
    kHelpFlag,
};

std::string Help() {
  return "comanda provider list\n"
         "comanda provider add APP [--from FILE]\n"
         "comanda provider try APP [--record]\n"
         "comanda provider remove APP\n"
         "comanda provider check FILE\n"
         "comanda provider schema\n\n"
         "Delivery apps: whether the restaurant's store is open in them, for GET "
         "/v1/stores/status and the event\n"
         "STORE_STATUS_CHANGED. `add` asks for what the app gave the restaurant to call it with, "
         "and keeps it in\n"
         "DIR/credentials, which no backup has; `try` asks the app now, and exits with 0 where it "
         "tells a state.\n\n"
         "An app is described by a file. Those of DIR/providers.d/*.json add to the built-in ones "
         "or replace the\n"
         "one of their name; the server reads them when it starts and on SIGHUP. `check` says what "
         "is wrong with\n"
         "a file, `schema` prints the JSON Schema of such files. `list` names the evidence of "
         "each: "
         "\"documents\"\n"
         "means that it was written after the app's documents and that nobody has tried it with a "
         "real account.\n\n" +
         DescribeFlags(kFlags);
}

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
    const std::string file = Field(provider, "file");
    if (!file.empty() && file != "-") row += Concat({"  providers.d/", file});
    Print(Concat({Trimmed(row), "\n"}));
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

int Check(const Arguments& arguments) {
  const std::string& path = arguments.Word(1, "file", "provider");
  const std::string text = ReadInput(path);
  try {
    const delivery::Provider provider = delivery::ReadProvider(text);
    Print(Concat({path, ": ", provider.name, ", ", provider.status ? "" : "not ",
                  "to be asked whether the store is open\n"}));
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
  const std::optional<Arguments> read = ReadArguments(words, kFlags, Help);
  if (!read) return kExitDone;
  const Arguments& arguments = *read;
  const std::string verb = arguments.positional().empty() ? "" : arguments.positional().front();
  if (verb == "list") return List(arguments);
  if (verb == "add") return Add(arguments);
  if (verb == "try") return Try(arguments);
  if (verb == "remove") return Remove(arguments);
  if (verb == "check") return Check(arguments);
  if (verb == "schema") {
    Print(Concat({delivery::SchemaJson(), "\n"}));
    return kExitDone;
  }
  throw Refusal(Problem::kInvalidParameter,
                "say list, add, try, remove, check or schema; see comanda provider --help");
}

}  // namespace comanda::app
