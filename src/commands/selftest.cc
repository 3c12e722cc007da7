#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/heartbeat.h"
#include "base/metrics.h"
#include "base/problem.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/embedded.h"
#include "commands/interrupt.h"
#include "commands/terminal.h"
#include "net/network.h"
#include "selftest/selftest.h"

namespace comanda::commands {
namespace {

constexpr size_t kKeyBytesMax = 300;

constexpr std::array kFlags = {
    Flag{"url", "URL", "the server, e.g. https://localhost:8443; without /v1"},
    Flag{"key", "KEY", "the API key to walk with; - reads it from the standard input"},
    Flag{"ca", "FILE", "the certificate authority to trust (PEM)"},
    Flag{"data", "DIR", "a box's data directory: its own authority is trusted"},
    Flag{"json", "", "one object, for scripts"},
    kHelpFlag,
};

Refusal Wrong(const std::string& text) { return Refusal(Problem::kInvalidParameter, text); }

std::string Require(const Arguments& arguments, std::string_view flag) {
  const std::string value = arguments.Find(flag).value_or("");
  if (value.empty()) throw Wrong("selftest needs --" + std::string(flag));
  return value;
}

bool IsLoopback(std::string_view authority) {
  const size_t port = authority.starts_with('[') ? authority.find(']') + 1 : authority.find(':');
  const std::string_view host = authority.substr(0, port);
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

// The value of --url, without a slash at the end.
std::string ReadUrl(const Arguments& arguments) {
  std::string url = Require(arguments, "url");
  while (url.ends_with('/')) url.pop_back();
  const bool printable = std::ranges::all_of(url, [](char c) { return c > ' ' && c < '\x7F'; });
  if (!printable || url.find_first_of("?#@") != std::string::npos) {
    throw Wrong("--url is an address like https://localhost:8443");
  }
  if (url.ends_with("/v1")) throw Wrong("--url is the address before /v1; leave that out");
  if (url.starts_with("https://") && url.size() > 8) return url;
  if (!url.starts_with("http://")) throw Wrong("--url begins with https://");
  const std::string_view authority = std::string_view(url).substr(7);
  if (!IsLoopback(authority.substr(0, authority.find('/')))) {
    throw Wrong("--url begins with https://; plain http would show the key to the network");
  }
  return url;
}

std::string ReadKey(const Arguments& arguments) {
  std::string key = Require(arguments, "key");
  if (key == "-") {
    std::array<char, kKeyBytesMax + 2> line{};
    key =
        std::fgets(line.data(), static_cast<int>(line.size()), stdin) == nullptr ? "" : line.data();
    while (key.ends_with('\n') || key.ends_with('\r')) key.pop_back();
  }
  const bool visible = std::ranges::all_of(key, [](char c) { return c > ' ' && c < '\x7F'; });
  if (key.empty() || key.size() > kKeyBytesMax || !visible) {
    throw Wrong("--key is an API key: visible ASCII characters without blanks");
  }
  return key;
}

std::shared_ptr<const crypto::Authorities> ReadAuthorities(const Arguments& arguments) {
  std::string file;
  if (const auto ca = arguments.Find("ca")) {
    file = *ca;
  } else if (const auto data = arguments.Find("data")) {
    file = *data + "/tls/ca.crt";
  } else {
    file = net::FindSystemAuthorities().value_or("");
    if (file.empty()) return nullptr;
  }
  const std::optional<std::string> pem = ReadFile(file);
  if (!pem) throw Wrong("there is no file " + file);
  return std::make_shared<crypto::Authorities>(*pem);
}

}  // namespace

int SelfTest(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, SelftestHelp());
  if (!arguments) return kExitDone;
  RequireOptionsAlone(*arguments, "selftest");
  const selftest::Settings settings{.url = ReadUrl(*arguments),
                                    .key = ReadKey(*arguments),
                                    .authorities = ReadAuthorities(*arguments),
                                    .interrupted = IsInterrupted};
  const bool as_json = arguments->Has("json");
  WatchForInterrupts();

  std::string_view subject;
  const auto tell = [&](const selftest::CheckResult& outcome) {
    if (as_json) return;
    if (outcome.subject != subject) Print("\n" + std::string(outcome.subject) + "\n");
    subject = outcome.subject;
    Print(selftest::AsText(outcome));
    ::fflush(stdout);
  };
  metrics::Registry metrics;
  Heartbeats heartbeats(SystemClock());
  net::Network network(heartbeats, metrics);
  const selftest::Summary summary = selftest::Run(settings, network, tell);
  Print(as_json ? selftest::AsJson(settings, summary) : selftest::AsText(summary));
  return summary.Count(selftest::Verdict::kDiffers) == 0 ? kExitDone : kExitRefused;
}

}  // namespace comanda::commands
