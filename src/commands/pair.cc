#include <array>
#include <optional>
#include <string>

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
#include "ops/certificates.h"
#include "ops/local_name.h"

namespace comanda::commands {
namespace {

constexpr std::array kFlags = {
    kDataFlag,
    Flag{"env", "live|test", "a key of the live address (default) or of the sandbox"},
    kCompanyFlag,
    Flag{"name", "NAME", "the name of the device and of its key, e.g. \"Till 3\""},
    Flag{"scopes", "all|S,S…",
         "what the key may do (listed below); all: without api-keys:*, "
         "admin:* and orders:sync"},
    Flag{"tier", "TIER", "standard, plus, lan (default) or unlimited: requests a minute"},
    Flag{"address", "ADDR[:PORT]", "where the device reaches the box, instead of what is found"},
    Flag{"invert", "", "draw the QR code for dark text on a light background"},
    kJsonFlag,
    kHelpFlag,
};

// Where a device connects to: ADDRESS:PORT, without the port of https.
std::string AddressOf(const Arguments& arguments, const config::Options& options) {
  if (const auto given = arguments.Find("address")) return *given;
  const bool is_live = ReadMode(arguments) == auth::Mode::kLive;
  const std::string& listen = is_live ? options.listen : options.sandbox_listen;
  if (listen.empty()) {
    throw Refusal(Problem::kValidationFailed,
                  "the sandbox is off (sandbox_listen): no device can reach it");
  }
  const size_t colon = listen.rfind(':');
  std::string address = listen.substr(0, colon);
  if (address == "0.0.0.0" || address == "[::]") {
    address = ops::LanAddress();
    if (address.find(':') != std::string::npos) address = Concat({"[", address, "]"});
  }
  if (address.empty()) {
    throw Refusal(Problem::kValidationFailed,
                  "the machine has no address in a network: connect it, or name one with "
                  "--address");
  }
  const std::string port = listen.substr(colon);
  return port == ":443" ? address : address + port;
}

// In a query, RFC 3986 section 3.4.
std::string Escaped(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                          (c >= 'a' && c <= 'z') ||
                          std::string_view("-._~:").find(c) != std::string_view::npos;
    if (is_plain) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return out;
}

// With a certificate of the owner there is no pin: the device trusts its issuer.
std::string PinPart(const config::Options& options) {
  if (!options.tls_certificate.empty()) return {};
  const auto pin = ops::AuthorityPin(options);
  if (!pin) {
    throw Refusal(Problem::kValidationFailed,
                  ops::AuthorityPath(options) +
                      " cannot be read or is not there yet: start the server first, and run this "
                      "as its user or as root");
  }
  return "&p=" + *pin;
}

std::string RequestBody(const Arguments& arguments) {
  std::string body;
  json::Writer out(body);
  out.BeginObject().Key("name").Text(RequireFlag(arguments, "pair", "name"));
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

}  // namespace

int Pair(Words words) {
  const std::optional<Arguments> arguments =
      ReadArguments(words, kFlags, WithLines(PairHelp(), "scopes", DescribeScopes()));
  if (!arguments) return kExitDone;
  RequireOptionsAlone(*arguments, "pair");
  const config::Options options = ReadControlOptions(*arguments);
  const std::string body = RequestBody(*arguments);
  std::string uri = "comanda://pair?h=" + Escaped(AddressOf(*arguments, options)) +
                    "&n=" + Escaped(ops::LocalName()) + PinPart(options);

  const ControlAnswer answer =
      CallControl(options, {.mode = ReadMode(*arguments),
                            .method = "POST",
                            .path = "/control/pairing-codes",
                            .company_uuid = arguments->Find("company").value_or(""),
                            .body = body});
  if (answer.status != 201) {
    PrintError(DescribeProblem(answer.body));
    return kExitRefused;
  }
  const json::Document document = json::Document::Parse(answer.body);
  const json::Value data = *document.root().Find("data");
  uri += "&c=" + Member(data, "code");
  Show(*arguments, uri, Member(data, "expires_at"));
  return kExitDone;
}

}  // namespace comanda::commands
