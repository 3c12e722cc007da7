#include "db/postgresql/status.h"

#include <array>
#include <string>

#include "app/storage.h"
#include "base/time/clock.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/terminal.h"
#include "json/writer.h"

namespace comanda::commands {
namespace {

constexpr std::array kFlags = {kDataFlag, kJsonFlag, kHelpFlag};

void Write(json::Writer& out, const std::optional<db::Served>& served) {
  if (!served) {
    out.Null();
    return;
  }
  out.BeginObject().Key("owner").Text(served->host);
  out.Key("term").Integer(served->term).Key("commits").Integer(served->commits).EndObject();
}

std::string Json(const db::Status& status) {
  std::string text;
  json::Writer out(text);
  out.BeginObject().Key("server").Text(status.server).Key("version").Text(status.version);
  out.Key("standbys");
  if (status.standbys) {
    out.BeginArray();
    for (const db::Standby& standby : *status.standbys) {
      out.BeginObject().Key("name").Text(standby.name).Key("address").Text(standby.address);
      out.Key("state").Text(standby.state).Key("sync_state").Text(standby.sync_state);
      out.Key("in_sync").Boolean(standby.is_in_sync());
      out.Key("lag_ms").Integer(standby.lag_ms).EndObject();
    }
    out.EndArray();
  } else {
    out.Null();
  }
  out.Key("connections").BeginObject().Key("own").Integer(status.own_connections);
  out.Key("all").Integer(status.connections).Key("max").Integer(status.connections_max);
  out.EndObject().Key("live");
  Write(out, status.live);
  out.Key("sandbox");
  Write(out, status.sandbox);
  out.EndObject();
  return text + "\n";
}

std::string Line(std::string name, const std::string& text) {
  name.resize(13, ' ');
  return name + text + "\n";
}

std::string Described(const std::optional<db::Served>& served) {
  if (!served) return "never served";
  return (served->host ? "served by " + *served->host : std::string("nobody serves it")) +
         ", term " + std::to_string(served->term) + ", " + std::to_string(served->commits) +
         " commits";
}

std::string Described(const db::Standby& standby) {
  const std::string lag = standby.lag_ms ? std::to_string(*standby.lag_ms) + " ms behind"
                                         : std::string("how far behind is not known");
  return standby.name + (standby.address.empty() ? "" : " " + standby.address) + ", " +
         standby.state + ", " + (standby.is_in_sync() ? "in sync" : standby.sync_state) + ", " +
         lag;
}

std::string Text(const db::Status& status) {
  std::string text = Line("database", status.server + ", PostgreSQL " + status.version);
  if (!status.standbys) {
    text += Line("standbys", "not shown: GRANT pg_monitor to the user of the database");
  } else if (status.standbys->empty()) {
    text += Line("standbys", "none");
  } else {
    for (const db::Standby& standby : *status.standbys) text += Line("standby", Described(standby));
  }
  text += Line("connections", std::to_string(status.connections) + " of " +
                                  std::to_string(status.connections_max) + ", " +
                                  std::to_string(status.own_connections) + " of comanda-head");
  return text + Line("live", Described(status.live)) + Line("sandbox", Described(status.sandbox));
}

}  // namespace

int ShowStatus(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, StatusHelp());
  if (!arguments) return kExitDone;
  RequireOptionsAlone(*arguments, "status");
  const config::Options options = ReadControlOptions(*arguments);
  db::Settings sandbox = app::StorageSettings(auth::Mode::kTest, options);
  sandbox.is_guest = true;
  const db::Status status =
      db::ReadStatus(app::StorageSettings(auth::Mode::kLive, options), sandbox, SystemClock());
  Print(arguments->Has("json") ? Json(status) : Text(status));
  return kExitDone;
}

}  // namespace comanda::commands
