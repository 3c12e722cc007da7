#include "ops/certificates.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/text.h"

namespace comanda::ops {
namespace {

constexpr UtcMs kDayMs = 24 * 60 * 60 * 1000;
// Long before the end, so that a box that is off for a month still has a good one.
constexpr UtcMs kRenewBeforeMs = 60 * kDayMs;

std::string TlsDirectory(const config::Options& options) { return options.data_directory + "/tls"; }

std::string HostName() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "comanda";
  return AsciiLower(name);
}

void AddInterfaceAddresses(std::set<std::string>& addresses) {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(raw, ::freeifaddrs);
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    char text[INET6_ADDRSTRLEN] = "";
    if (entry->ifa_addr->sa_family == AF_INET) {
      const auto* address = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
      ::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      const auto* address = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr);
      // A link-local address means nothing without the interface it belongs to.
      if (IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr)) continue;
      ::inet_ntop(AF_INET6, &address->sin6_addr, text, sizeof text);
    }
    if (text[0] != '\0') addresses.insert(text);
  }
}

std::optional<crypto::KeyPair> ReadPair(const std::string& certificate_path,
                                        const std::string& key_path) {
  const auto certificate = ReadFile(certificate_path);
  const auto key = ReadFile(key_path);
  if (!certificate || !key) return std::nullopt;
  return crypto::KeyPair{.certificate_pem = *certificate, .key_pem = *key};
}

crypto::KeyPair OwnersPair(const config::Options& options) {
  auto pair = ReadPair(options.tls_certificate, options.tls_key);
  if (!pair) {
    throw Invalid(
        "tls_certificate", FieldCode::kNotFound,
        "the files named by tls_certificate and tls_key must both exist and be readable: " +
            options.tls_certificate + ", " + options.tls_key);
  }
  const std::string mismatch = crypto::Mismatch(pair->certificate_pem, pair->key_pem);
  if (!mismatch.empty()) throw Invalid("tls_key", FieldCode::kInvalidFormat, mismatch);
  return *std::move(pair);
}

// Empty where a pair of our own may be used on. A file may be damaged, and the power may have gone
// between the two when they were replaced.
std::string Trouble(const crypto::KeyPair& pair, UtcMs now) {
  try {
    if (crypto::Inspect(pair.certificate_pem).not_after <= now + kRenewBeforeMs) return "ends soon";
    return crypto::Mismatch(pair.certificate_pem, pair.key_pem);
  } catch (const Refusal& refusal) {
    return refusal.detail;
  }
}

crypto::KeyPair Authority(const config::Options& options, UtcMs now) {
  const std::string directory = TlsDirectory(options);
  auto pair = ReadPair(directory + "/ca.crt", directory + "/ca.key");
  const std::string trouble = pair ? Trouble(*pair, now) : "a file of its pair is missing";
  if (trouble.empty()) return *std::move(pair);
  if (pair || ReadFile(AuthorityPath(options))) {  // else this is the first start
    log::Warning("made a new certificate authority; devices must trust it anew",
                 {{"file", AuthorityPath(options)}, {"why", trouble}});
  }
  crypto::KeyPair made = crypto::MakeAuthority("Comanda " + HostName(), now);
  // The key first: a certificate without its key would be served as if it could sign.
  ReplaceFile(directory + "/ca.key", made.key_pem, 0600);
  ReplaceFile(directory + "/ca.crt", made.certificate_pem, 0644);
  return made;
}

bool Covers(const crypto::CertificateInfo& info, const Names& names) {
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::ranges::find(list, name) != list.end();
  };
  return std::ranges::all_of(names.dns,
                             [&](const auto& name) { return has(info.dns_names, name); }) &&
         std::ranges::all_of(names.addresses,
                             [&](const auto& name) { return has(info.addresses, name); });
}

bool IsStillGood(const crypto::KeyPair& pair, const crypto::KeyPair& authority, const Names& names,
                 UtcMs now) {
  return Trouble(pair, now).empty() && Covers(crypto::Inspect(pair.certificate_pem), names) &&
         pair.certificate_pem.ends_with(authority.certificate_pem);
}

}  // namespace

bool Names::Allows(std::string_view host) const {
  const std::string name(host);
  return dns.contains(name) || addresses.contains(name);
}

Names MachineNames(const config::Options& options) {
  Names names;
  const std::string host = HostName();
  names.dns = {"localhost", "comanda.local", host};
  if (host.find('.') == std::string::npos) names.dns.insert(host + ".local");
  names.addresses = {"127.0.0.1", "::1"};
  AddInterfaceAddresses(names.addresses);
  for (const std::string& further : options.hosts) {
    unsigned char address[sizeof(in6_addr)];
    const bool numeric = ::inet_pton(AF_INET, further.c_str(), address) == 1 ||
                         ::inet_pton(AF_INET6, further.c_str(), address) == 1;
    (numeric ? names.addresses : names.dns).insert(AsciiLower(further));
  }
  return names;
}

Served CurrentCertificate(const config::Options& options, const Names& names, UtcMs now) {
  if (!options.tls_certificate.empty()) return {.pair = OwnersPair(options), .renewed = false};

  const std::string directory = TlsDirectory(options);
  MakeDirectories(directory, 0700);
  const crypto::KeyPair authority = Authority(options, now);
  if (auto pair = ReadPair(directory + "/server.crt", directory + "/server.key")) {
    if (IsStillGood(*pair, authority, names, now))
      return {.pair = *std::move(pair), .renewed = false};
  }

  crypto::KeyPair pair =
      crypto::MakeServerCertificate(authority, HostName(), {names.dns.begin(), names.dns.end()},
                                    {names.addresses.begin(), names.addresses.end()}, now);
  ReplaceFile(directory + "/server.key", pair.key_pem, 0600);
  ReplaceFile(directory + "/server.crt", pair.certificate_pem, 0644);
  return {.pair = std::move(pair), .renewed = true};
}

std::string AuthorityPath(const config::Options& options) {
  return TlsDirectory(options) + "/ca.crt";
}

}  // namespace comanda::ops
