#include <array>
#include <string>

#include "base/gzip.h"
#include "base/problem.h"
#include "base/time/zone.h"
#include "base/version.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/embedded.h"
#include "commands/terminal.h"
#include "crypto/hash.h"
#include "crypto/secret_stream.h"
#include "engine/library.h"
#include "json/reader.h"
#include "net/network.h"
#include "wire/server.h"

namespace comanda::commands {
namespace {

constexpr std::array kFlags = {kHelpFlag};

std::string Row(std::string name, std::string_view version) {
  name.resize(12, ' ');
  return name + std::string(version) + "\n";
}

}  // namespace

int Version(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, VersionHelp());
  if (!arguments) return kExitDone;
  if (!arguments->positional().empty()) {
    throw Refusal(Problem::kInvalidParameter,
                  "version takes no words, so not '" + arguments->positional().front() + "'");
  }
  Print(Row("comanda", kVersion) + Row("civetweb", wire::LibraryVersion()) +
        Row("cjson", json::LibraryVersion()) + Row(db::LibraryName(), db::LibraryVersion()) +
        Row("mbedtls", crypto::LibraryVersion()) + Row("libcurl", net::LibraryVersion()) +
        Row("c-ares", net::ResolverVersion()) + Row("cctz", COMANDA_CCTZ_VERSION) +
        Row("libdeflate", GzipVersion()) + Row("libsodium", crypto::SodiumVersion()) +
        Row("preact", COMANDA_PREACT_VERSION) + Row("qrcodegen", COMANDA_QRCODEGEN_VERSION));
  return kExitDone;
}

}  // namespace comanda::commands
