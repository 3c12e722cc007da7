#include "delivery/credentials.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/concat.h"
#include "base/file.h"
#include "base/problem.h"
#include "json/reader.h"
#include "json/writer.h"
#include "wire/percent.h"

namespace comanda::delivery {
namespace {

constexpr size_t kMaskedMin = 4;
constexpr std::string_view kEnding = ".json";

std::string DirectoryFor(const CredentialsPlace& place) {
  return Concat({place.data_directory, "/credentials/", place.company_uuid});
}

std::string PathOf(const CredentialsPlace& place, std::string_view app) {
  return Concat({DirectoryFor(place), "/", app, kEnding});
}

struct Stored {
  Variables credentials;
  std::vector<std::string> hosts;
  bool is_of_systemd = false;  // for every host
};

void ReadTexts(const json::Value& object, Variables& out) {
  if (object.kind() != json::Kind::kObject) return;
  for (const auto& [name, value] : object.members()) {
    if (value.kind() == json::Kind::kText) out.emplace(name, value.text());
  }
}

// Tolerant: a file that is not what it should be holds nothing. One of systemd is the object of the
// credentials itself, as `comanda provider add --from` takes it.
Stored Parsed(std::string_view text, bool is_of_systemd) {
  Stored stored{.is_of_systemd = is_of_systemd};
  try {
    const json::Document document = json::Document::Parse(text);
    const json::Value root = document.root();
    if (is_of_systemd) ReadTexts(root, stored.credentials);
    if (is_of_systemd || root.kind() != json::Kind::kObject) return stored;
    const auto credentials = root.Find("credentials"), hosts = root.Find("hosts");
    if (credentials) ReadTexts(*credentials, stored.credentials);
    if (hosts && hosts->kind() == json::Kind::kArray) {
      for (const json::Value& host : hosts->items()) {
        if (host.kind() == json::Kind::kText) stored.hosts.emplace_back(host.text());
      }
    }
  } catch (const Refusal&) {
  }
  return stored;
}

std::optional<Stored> Read(const CredentialsPlace& place, std::string_view app) {
  if (const char* directory = std::getenv("CREDENTIALS_DIRECTORY")) {
    const auto text = ReadFile(Concat({directory, "/", app, kEnding}));
    if (text) return Parsed(*text, true);
  }
  const auto text = ReadFile(PathOf(place, app));
  if (!text) return std::nullopt;
  return Parsed(*text, false);
}

void Say(std::string* why, std::string text) {
  if (why != nullptr) *why = std::move(text);
}

void Replace(std::string& text, const std::string& secret) {
  if (secret.size() < kMaskedMin) return;
  for (size_t at = text.find(secret); at != text.npos; at = text.find(secret, at)) {
    text.replace(at, secret.size(), "***");
  }
}

}  // namespace

std::optional<Variables> FindCredentials(const CredentialsPlace& place, const Provider& provider,
                                         std::string* why) {
  const std::optional<Stored> stored = Read(place, provider.name);
  if (!stored) {
    Say(why, Concat({"none: `comanda provider add ", provider.name, "`"}));
    return std::nullopt;
  }
  const bool is_for_hosts =
      stored->is_of_systemd || std::ranges::all_of(provider.hosts, [&](const std::string& host) {
        return std::ranges::find(stored->hosts, host) != stored->hosts.end();
      });
  if (!is_for_hosts) {
    Say(why, Concat({"added for other hosts: `comanda provider add ", provider.name, "` again"}));
    return std::nullopt;
  }
  for (const CredentialField& field : provider.credentials) {
    const auto value = stored->credentials.find(field.name);
    if (value != stored->credentials.end() && !value->second.empty()) continue;
    Say(why, Concat({field.name, " is missing: `comanda provider add ", provider.name, "` again"}));
    return std::nullopt;
  }
  return stored->credentials;
}

void PutCredentials(const CredentialsPlace& place, const Provider& provider,
                    const Variables& credentials) {
  std::string text;
  json::Writer out(text);
  out.BeginObject().Key("credentials").BeginObject();
  for (const auto& [name, value] : credentials) out.KeyOf(name).Text(value);
  out.EndObject().Key("hosts").BeginArray();
  for (const std::string& host : provider.hosts) out.Text(host);
  out.EndArray().EndObject();
  MakeDirectories(DirectoryFor(place), 0700);
  TakeOwnerOfDirectory(place.data_directory + "/credentials");
  TakeOwnerOfDirectory(DirectoryFor(place));
  ReplaceFile(PathOf(place, provider.name), text + "\n", 0600);
}

bool RemoveCredentials(const CredentialsPlace& place, std::string_view app) {
  const std::string path = PathOf(place, app);
  if (!IsThere(path)) return false;
  RemoveAll(path);
  SyncDirectory(DirectoryFor(place));
  return true;
}

std::string AppWithSame(const CredentialsPlace& place, const Provider& provider,
                        const Variables& credentials) {
  for (const std::string& file :
       FilesIn(DirectoryFor(place)).value_or(std::vector<std::string>{})) {
    if (!file.ends_with(kEnding)) continue;
    const std::string app = file.substr(0, file.size() - kEnding.size());
    if (app == provider.name) continue;
    const std::optional<Stored> stored = Read(place, app);
    if (stored && stored->credentials == credentials) return app;
  }
  return "";
}

std::string Masked(std::string_view text, const Provider& provider, const Variables& variables) {
  std::string masked(text);
  const auto mask = [&](const std::string& name) {
    const auto value = variables.find(name);
    if (value == variables.end()) return;
    Replace(masked, value->second);
    Replace(masked, wire::PercentEncoded(value->second));
    Replace(masked, InJson(value->second));
  };
  mask("token");
  for (const CredentialField& field : provider.credentials) {
    if (field.is_secret) mask(field.name);
  }
  return masked;
}

}  // namespace comanda::delivery
