#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "base/concat.h"
#include "base/problem.h"
#include "base/text.h"
#include "commands/answer_values.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/terminal.h"
#include "json/reader.h"
#include "json/writer.h"

namespace comanda::commands {
namespace {

constexpr std::array kVerbs = {Verb{"link", 0},        Verb{"status", 0},   Verb{"parked", 0},
                               Verb{"differences", 0}, Verb{"unpaired", 0}, Verb{"pause", 0},
                               Verb{"resume", 0},      Verb{"retry", 1},    Verb{"discard", 1},
                               Verb{"unlink", 0}};

constexpr std::array kFlags = {
    kDataFlag,
    kCompanyFlag,
    Flag{"url", "URL", "link: the address of the cloud, without /v1"},
    Flag{"key-file", "FILE", "link: a file with the API key in its first line; - is the input"},
    Flag{"ca-file", "FILE", "link: authorities that the cloud may have instead of the system's"},
    Flag{"since", "DATE", "link: orders from before that day are not sent"},
    Flag{"timezone", "ZONE", "link: of the restaurant, where the cloud does not tell it"},
    Flag{"country", "CODE", "link: of the restaurant, where the cloud does not tell it"},
    Flag{"reason", "TEXT", "discard: why"},
    kJsonFlag,
    kHelpFlag,
};

// A link waits this long for the first reading of the restaurant.
constexpr auto kFirstReadingMax = std::chrono::seconds(60);

ControlAnswer Call(const Arguments& arguments, std::string method, std::string_view path,
                   std::string body = {}) {
  const config::Options options = ReadControlOptions(arguments);
  const bool may_begin = path == "/link";  // an empty box gets its restaurant from the cloud
  return CallControlOrRefuse(options, {.mode = auth::Mode::kLive,
                                       .method = std::move(method),
                                       .path = Concat({"/control/cloud", path}),
                                       .body = std::move(body),
                                       .may_begin = may_begin});
}

std::string Need(const Arguments& arguments, std::string_view flag) {
  const auto value = arguments.Find(flag);
  if (value && !value->empty()) return *value;
  throw Refusal(Problem::kInvalidParameter, Concat({"say --", flag, "; see comanda cloud --help"}));
}

// The words that make a command one of the same data directory.
std::string DataWords(const Arguments& arguments) {
  const auto data = arguments.Find("data");
  return data ? Concat({" --data ", *data}) : "";
}

// Status

void PrintStatus(const Arguments& arguments, const json::Value& status) {
  Print(Concat({"cloud      ", Field(status, "description"), "\n"}));
  Print(Concat({"internet   ", Field(status, "internet"), "\n"}));
  if (Field(status, "next_at") != "-") {
    Print(Concat({"next try   ", Field(status, "next_at"), "\n"}));
  }
  if (Field(status, "url") == "-") return;
  Print(Concat({"address    ", Field(status, "url"), "\n"}));
  Print(Concat({"linked     ", Field(status, "linked_at"), "\n"}));
  Print(Concat({"last heard ", Field(status, "heard_at"), "\n"}));
  const std::string others = Field(status, "other_channels");
  if (others != "0") {
    Print(
        Concat({others, others == "1" ? " order came through another channel and is not sent\n"
                                      : " orders came through other channels and are not sent\n"}));
  }
  for (const json::Value& unread : status.Find("unread")->items()) {
    Print(Concat({"not read   ", Field(unread, "description"), "\n"}));
  }
  for (const json::Value& late : status.Find("late")->items()) {
    const bool is_menu = Field(late, "order_id") == "-";
    const std::string id =
        is_menu ? "the menu" : Concat({Field(late, "public_id"), "  ", Field(late, "order_id")});
    Print(Concat(
        {"late       ", id, ": ", Field(late, "why"), ", since ", Field(late, "since"), "\n"}));
  }
  const auto unpaired = status.Find("unpaired");
  for (const auto& [kind, count] : unpaired->members()) {
    Print(Concat({"only here  ", count.number_text(), " ", kind, "\n"}));
  }
  if (IsTrue(status, "follows_events") && !IsTrue(status, "takes_dates")) {
    Print("The key has no scope orders:sync: the cloud dates orders by its own clock.\n");
  }
  for (const json::Value& advice : status.Find("do")->items()) {
    Print(Concat({"do         ", Field(advice, "command"), DataWords(arguments), "     # ",
                  Field(advice, "purpose"), "\n"}));
  }
}

int ShowStatus(const Arguments& arguments) {
  const ControlAnswer answer = Call(arguments, "GET", "");
  const json::Document document = json::Document::Parse(answer.body);
  const json::Value status = DataOf(document);
  if (arguments.Has("json")) {
    std::string text;
    json::Writer(text).Raw(status.Canonical());
    Print(text + "\n");
  } else {
    PrintStatus(arguments, status);
  }
  return Field(status, "state") == "in step" ? kExitDone : kExitRefused;
}

// Lists

int ShowList(const Arguments& arguments, std::string_view path,
             std::string (*row)(const json::Value&)) {
  const ControlAnswer answer = Call(arguments, "GET", path);
  if (arguments.Has("json")) {
    Print(answer.body + "\n");
    return kExitDone;
  }
  const json::Document document = json::Document::Parse(answer.body);
  for (const json::Value& item : DataOf(document).items()) Print(row(item));
  return kExitDone;
}

std::string RowOfParked(const json::Value& parked) {
  std::string row = Concat(
      {Field(parked, "public_id"), "  ", Field(parked, "order_id"), "  ", Field(parked, "why")});
  const auto problem = parked.Find("problem");
  if (!problem || problem->kind() != json::Kind::kObject) return row + "\n";
  if (problem->Find("status")) row += Concat({"  ", Field(*problem, "status")});
  row += Concat({"  ", Field(*problem, "detail")});
  const auto errors = problem->Find("errors");
  if (!errors || errors->kind() != json::Kind::kArray) return row + "\n";
  for (const json::Value& error : errors->items()) {
    if (error.kind() != json::Kind::kObject) continue;
    row += Concat({"  ", Field(error, "field")});
    if (error.Find("message")) row += Concat({": ", Field(error, "message")});
  }
  return row + "\n";
}

// What a person may do, for each reason of the list.
int ShowParked(const Arguments& arguments) {
  const int code = ShowList(arguments, "/parked", RowOfParked);
  if (arguments.Has("json")) return code;
  const ControlAnswer answer = Call(arguments, "GET", "/parked");
  const json::Document document = json::Document::Parse(answer.body);
  bool has_paid = false, has_others = false;
  for (const json::Value& parked : DataOf(document).items()) {
    const bool is_paid = Field(parked, "why") == "cancelled_but_paid";
    (is_paid ? has_paid : has_others) = true;
  }
  const std::string data = DataWords(arguments);
  if (has_others) {
    Print(Concat({"do  comanda cloud retry ORDER", data,
                  "     # when the cause is mended\n"
                  "do  comanda cloud discard ORDER --reason TEXT",
                  data, "     # when it was entered in the cloud by hand\n"}));
  }
  if (has_paid) {
    Print("do  cancel the payments of each order that is cancelled_but_paid, at a till\n");
  }
  return code;
}

std::string RowOfDifference(const json::Value& difference) {
  return Concat({Field(difference, "at"), "  ", Field(difference, "kind"), "  ",
                 Field(difference, "order_id"), "  here ", Field(difference, "box"), "  cloud ",
                 Field(difference, "cloud"), "  ", Field(difference, "detail"), "\n"});
}

std::string RowOfUnpaired(const json::Value& unpaired) {
  return Concat({Field(unpaired, "kind"), "  ", Field(unpaired, "name"), "\n"});
}

// Linking

std::string ReadKeyFrom(const std::string& path) {
  const std::string content = ReadInput(path);
  std::string_view rest = content;
  const std::string key(Trimmed(TakePiece(rest, '\n')));
  if (key.empty())
    throw Refusal(Problem::kValidationFailed, path + " has no key in its first line");
  return key;
}

// Waits until what selling needs was read, so that what only one side has can be named, and says
// what is being read. What is missing in the end, a line each; empty: nothing.
std::string AwaitFirstReading(const Arguments& arguments) {
  const auto end = std::chrono::steady_clock::now() + kFirstReadingMax;
  std::string reading;
  while (true) {
    const ControlAnswer answer = Call(arguments, "GET", "");
    const json::Document document = json::Document::Parse(answer.body);
    const json::Value status = DataOf(document);
    std::string first, missing;
    for (const json::Value& unread : status.Find("unread")->items()) {
      if (!IsTrue(unread, "stops_selling")) continue;
      if (first.empty()) first = Field(unread, "what");
      missing += Concat({"  ", Field(unread, "description"), "\n"});
    }
    if (missing.empty()) return "";
    const bool is_over = std::chrono::steady_clock::now() >= end ||
                         Field(status, "state") == "stopped" || Field(status, "state") == "paused";
    if (is_over) return missing;
    if (first != reading) PrintError(Concat({"reading ", first, " of the cloud …"}));
    reading = first;
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
}

std::string LinkBody(const Arguments& arguments) {
  std::string body;
  json::Writer out(body);
  out.BeginObject();
  out.Key("url").Text(Need(arguments, "url"));
  out.Key("key").Text(ReadKeyFrom(Need(arguments, "key-file")));
  if (const auto ca = arguments.Find("ca-file")) {
    std::array<char, PATH_MAX> absolute{};
    if (::realpath(ca->c_str(), absolute.data()) == nullptr) {
      throw Refusal(Problem::kNotFound, "there is no file " + *ca);
    }
    out.Key("ca_file").Text(std::string_view(absolute.data()));
  }
  for (const auto& [flag, field] : {std::pair("company", "company"),
                                    {"since", "since"},
                                    {"timezone", "timezone"},
                                    {"country", "country_code"}}) {
    if (const auto value = arguments.Find(flag)) out.KeyOf(field).Text(*value);
  }
  out.EndObject();
  return body;
}

int Link(const Arguments& arguments) {
  const ControlAnswer answer = Call(arguments, "POST", "/link", LinkBody(arguments));
  const std::string missing = AwaitFirstReading(arguments);
  if (!missing.empty()) {
    PrintError(Concat({"linked, but not read yet, without which nothing can be sold:\n", missing,
                       "It is tried again; `comanda cloud status", DataWords(arguments),
                       "` says when it is there."}));
  }
  const int code = missing.empty() ? kExitDone : kExitRefused;
  if (arguments.Has("json")) {
    Print(answer.body + "\n");
    return code;
  }
  const json::Document document = json::Document::Parse(answer.body);
  const json::Value result = DataOf(document);
  if (IsTrue(result, "was_created")) Print("the restaurant was made from the cloud's\n");
  Print(IsTrue(result, "goes_on") ? "linked again: what was waiting goes on\n" : "linked\n");
  if (IsTrue(result, "follows_events") && !IsTrue(result, "takes_dates")) {
    Print("The key has no scope orders:sync: the cloud will date orders by its own clock.\n");
  }
  const ControlAnswer unpaired = Call(arguments, "GET", "/unpaired");
  const json::Document list = json::Document::Parse(unpaired.body);
  if (!DataOf(list).items().empty()) Print("\nOnly here, not in the cloud:\n");
  for (const json::Value& item : DataOf(list).items()) Print(RowOfUnpaired(item));
  return code;
}

std::string OrderBody(const Arguments& arguments, bool has_reason) {
  std::string body;
  json::Writer out(body);
  out.BeginObject().Key("order").Text(arguments.Word(1, "order", "cloud"));
  if (has_reason) out.Key("reason").Text(Need(arguments, "reason"));
  out.EndObject();
  return body;
}

int Do(const Arguments& arguments, std::string_view path, std::string body, std::string_view done) {
  const ControlAnswer answer = Call(arguments, "POST", path, std::move(body));
  Print(arguments.Has("json") ? answer.body + "\n" : std::string(done) + "\n");
  return kExitDone;
}

int Resume(const Arguments& arguments) {
  const ControlAnswer answer = Call(arguments, "POST", "/resume", "{}");
  if (arguments.Has("json")) {
    Print(answer.body + "\n");
    return kExitDone;
  }
  const json::Document document = json::Document::Parse(answer.body);
  const std::string held = Field(DataOf(document), "held");
  Print(held == "-" ? "resumed\n" : Concat({"resumed, but nothing is sent or read: ", held, "\n"}));
  return kExitDone;
}

}  // namespace

int Cloud(Words words) {
  const std::optional<Arguments> read = ReadArguments(words, kFlags, CloudHelp());
  if (!read) return kExitDone;
  const Arguments& arguments = *read;
  const std::string_view verb = ReadVerb(arguments, kVerbs, "cloud");
  if (verb == "link") return Link(arguments);
  if (verb == "status") return ShowStatus(arguments);
  if (verb == "parked") return ShowParked(arguments);
  if (verb == "differences") return ShowList(arguments, "/differences", RowOfDifference);
  if (verb == "unpaired") return ShowList(arguments, "/unpaired", RowOfUnpaired);
  if (verb == "pause") return Do(arguments, "/pause", "{}", "paused: nothing is sent or read");
  if (verb == "resume") return Resume(arguments);
  if (verb == "unlink") {
    return Do(arguments, "/unlink", "{}",
              "unlinked, and the key deleted: a link with the same company goes on where this one "
              "ended");
  }
  if (verb == "retry")
    return Do(arguments, "/retry", OrderBody(arguments, false), "will be sent again");
  return Do(arguments, "/discard", OrderBody(arguments, true), "discarded");
}

}  // namespace comanda::commands
