#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "commands/answer_values.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/key_flags.h"
#include "commands/terminal.h"
#include "json/reader.h"
#include "json/writer.h"

namespace comanda::commands {
namespace {

constexpr std::array kVerbs = {Verb{"create", 0}, Verb{"list", 0}, Verb{"revoke", 1}};

constexpr std::array kFlags = {
    kDataFlag,
    Flag{"env", "live|test", "keys of the live address (default) or of the sandbox"},
    kCompanyFlag,
    Flag{"name", "NAME", "create: what the key is for, e.g. \"till 1\""},
    Flag{"scopes", "all|S,S…", "create: what the key may do (listed below)"},
    Flag{"tier", "TIER", "create: standard, plus, lan (default) or unlimited: requests a minute"},
    Flag{"expires-at", "INSTANT", "create: the key ends then, e.g. 2027-01-31T00:00:00Z"},
    Flag{"all", "", "list: revoked and expired keys too"},
    kJsonFlag,
    kHelpFlag,
};

int Create(const Arguments& arguments) {
  std::string body;
  json::Writer out(body);
  out.BeginObject().Key("name").Text(RequireFlag(arguments, "keys", "name"));
  out.Key("scopes").BeginArray();
  for (const std::string& scope : ScopeList(RequireFlag(arguments, "keys", "scopes"), true))
    out.Text(scope);
  out.EndArray();
  if (const auto tier = arguments.Find("tier")) out.Key("tier").Text(*tier);
  if (const auto end = arguments.Find("expires-at")) out.Key("expires_at").Text(*end);
  out.EndObject();

  const ControlAnswer answer = CallControl(arguments, "POST", "/auth/api-keys", body);
  if (answer.status != 201) return Refused(answer);

  const json::Document document = json::Document::Parse(answer.body);
  const json::Value data = *document.root().Find("data");
  const std::string id = Field(data, "id");
  const std::string key = Field(data, "key");
  if (arguments.Has("json")) {
    std::string text;
    json::Writer(text).BeginObject().Key("id").Text(id).Key("key").Text(key).EndObject();
    Print(text + "\n");
  } else {
    Print("id   " + id + "\nkey  " + key + "\n\nKeep the key now: it is not shown again.\n");
  }
  return kExitDone;
}

std::string ListRow(const json::Value& key) {
  std::string state = "active";
  std::string role = Field(key, "role");
  role.resize(std::max<size_t>(role.size(), 12), ' ');
  if (Field(key, "expires_at") != "-") state = "expires " + Field(key, "expires_at");
  if (Field(key, "revoked_at") != "-") state = "revoked " + Field(key, "revoked_at");
  std::string name = Field(key, "name");
  name.resize(std::max<size_t>(name.size(), 24), ' ');
  return Field(key, "id") + "  " + name + "  " + Field(key, "key_prefix") + "…" +
         Field(key, "last_four") + "  " + Field(key, "tier") + "  " + role + "  last seen " +
         Field(key, "last_used_at") + "  " + state + "\n";
}

int List(const Arguments& arguments) {
  const std::string filter = arguments.Has("all") ? "" : "&filter[active]=true";
  for (int page = 1;; ++page) {
    const ControlAnswer answer = CallControl(
        arguments, "GET", "/auth/api-keys?per_page=100&page=" + std::to_string(page) + filter);
    if (answer.status != 200) return Refused(answer);
    if (arguments.Has("json")) {
      Print(answer.body + "\n");
    }
    const json::Document document = json::Document::Parse(answer.body);
    if (!arguments.Has("json")) {
      for (const json::Value& key : document.root().Find("data")->items()) Print(ListRow(key));
    }
    if (!document.root().Find("pagination")->Find("has_more")->boolean()) return kExitDone;
  }
}

int Revoke(const Arguments& arguments) {
  const std::string& id = arguments.Word(1, "key's id: comanda keys revoke ID", "keys");
  const ControlAnswer answer = CallControl(arguments, "DELETE", "/auth/api-keys/" + id);
  if (answer.status != 200) return Refused(answer);
  Print(arguments.Has("json") ? answer.body + "\n" : "revoked " + Visible(id) + "\n");
  return kExitDone;
}

}  // namespace

int Keys(Words words) {
  const std::optional<Arguments> arguments =
      ReadArguments(words, kFlags, WithLines(KeysHelp(), "scopes", DescribeScopes()));
  if (!arguments) return kExitDone;
  const std::string_view verb = ReadVerb(*arguments, kVerbs, "keys");
  if (verb == "create") return Create(*arguments);
  if (verb == "list") return List(*arguments);
  return Revoke(*arguments);
}

}  // namespace comanda::commands
