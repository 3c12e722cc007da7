#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "app/arguments.h"
#include "app/commands.h"
#include "app/control.h"
#include "app/environment.h"
#include "app/terminal.h"
#include "app/verification.h"
#include "base/problem.h"
#include "json/writer.h"

namespace comanda::app {
namespace {

constexpr std::array kFlags = {
    kDataFlag,
    kJsonFlag,
    kHelpFlag,
};

std::string Help() {
  return "comanda verify [--data DIR] [--json]\n\n"
         "Reads everything in both databases and says what is not as it was written: orders with "
         "all\n"
         "their rows, stored records, the chain of events, counts, API keys, pages and indexes. "
         "Changes "
         "nothing.\n"
         "The server may be running; DIR may be a backup.\n\n"
         "Exit codes: 0 all is sound, 1 damage was found (each is named), 70 a database cannot be "
         "read.\n\n" +
         DescribeFlags(kFlags);
}

struct Verified {
  std::string name;  // "live.db"
  Verification::Report report;
};

std::string Text(const std::vector<Verified>& all) {
  std::string text;
  for (const auto& [name, report] : all) {
    text += name + "  " + std::to_string(report.orders) + " orders, " +
            std::to_string(report.events) + " events: ";
    text += report.damage.empty() ? "sound\n" : std::to_string(report.damage.size()) + " damaged\n";
    for (const std::string& damage : report.damage) text += "  " + damage + "\n";
  }
  return text;
}

std::string Json(const std::vector<Verified>& all, bool is_sound) {
  std::string text;
  json::Writer out(text);
  out.BeginObject().Key("sound").Boolean(is_sound).Key("databases").BeginArray();
  for (const auto& [name, report] : all) {
    out.BeginObject().Key("name").Text(name);
    out.Key("orders").Integer(report.orders).Key("events").Integer(report.events);
    out.Key("damage").BeginArray();
    for (const std::string& damage : report.damage) out.Text(damage);
    out.EndArray().EndObject();
  }
  out.EndArray().EndObject();
  return text + "\n";
}

}  // namespace

int Verify(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, Help);
  if (!arguments) return kExitDone;
  RequireOptionsAlone(*arguments, "verify");
  const config::Options options = ReadControlOptions(*arguments);
  std::vector<Verified> all;
  bool is_sound = true;
  for (const auth::Mode mode : {auth::Mode::kLive, auth::Mode::kTest}) {
    const std::string path = DatabasePath(mode, options);
    const bool is_optional = mode == auth::Mode::kTest;
    if (is_optional && ::access(path.c_str(), F_OK) != 0) continue;
    all.push_back({std::string(Name(mode)) + ".db", VerifyDatabase(path, SystemClock())});
    is_sound = is_sound && all.back().report.damage.empty();
  }
  Print(arguments->Has("json") ? Json(all, is_sound) : Text(all));
  return is_sound ? kExitDone : kExitRefused;
}

}  // namespace comanda::app
