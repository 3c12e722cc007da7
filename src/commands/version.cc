#include <array>
#include <string>

#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/terminal.h"
#include "base/gzip.h"
#include "base/problem.h"
#include "base/version.h"
#include "base/time/zone.h"
#include "crypto/hash.h"
#include "crypto/secret_stream.h"
#include "db/sqlite/library.h"
#include "wire/server.h"
#include "json/reader.h"
#include "net/network.h"

namespace comanda::app {
namespace {

constexpr std::array kFlags = {kHelpFlag};

std::string Row(std::string name, std::string_view version) {
  name.resize(12, ' ');
  return name + std::string(version) + "\n";
}

}  // namespace

int Version(Words words) {
  const Arguments arguments = Arguments::Parse(words, kFlags);
  if (arguments.Has("help")) {
    Print("comanda version\n\nShows the version of this program and of every library inside.\n\n" +
          DescribeFlags(kFlags));
    return kExitDone;
  }
  if (!arguments.positional().empty()) {
    throw Refusal(Problem::kInvalidParameter,
                  "version takes no words, so not '" + arguments.positional().front() + "'");
  }
  Print(Row("comanda", kVersion) + Row("civetweb", wire::LibraryVersion()) +
        Row("cjson", json::LibraryVersion()) + Row("sqlite", db::LibraryVersion()) +
        Row("mbedtls", crypto::LibraryVersion()) + Row("libcurl", net::LibraryVersion()) +
        Row("c-ares", net::ResolverVersion()) + Row("cctz", COMANDA_CCTZ_VERSION) +
        Row("libdeflate", GzipVersion()) + Row("libsodium", crypto::SodiumVersion()) +
        Row("qrcodegen", COMANDA_QRCODEGEN_VERSION));
  return kExitDone;
}

}  // namespace comanda::app
