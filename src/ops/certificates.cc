#include "ops/certificates.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/build_date.h"
#include "base/file.h"
#include "base/handle.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/text.h"
#include "crypto/hash.h"
#include "ops/addresses.h"

namespace comanda::ops {
namespace {

constexpr int64_t kRecordAgainMs = 10'000;

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
      // A link-local address is not usable without the name of an interface.
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

std::string TrustPath(const config::Options& options) {
  return TlsDirectory(options) + "/ca.trust";
}

// The text itself, or an empty one if it is no certificate.
std::string ReadableCertificate(const std::string& pem) {
  try {
    crypto::Inspect(pem);
    return pem;
  } catch (const Refusal&) {
    return {};
  }
}

// Why the key cannot be used with the certificate; empty if it can.
std::string WrongKey(const std::string& certificate_pem, const std::string& key_pem) {
  if (certificate_pem.empty()) return "there is no certificate to it";
  if (key_pem.empty()) return "it is missing or empty";
  return crypto::Mismatch(certificate_pem, key_pem);
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

// The files of DIR/tls.
struct Found {
  crypto::KeyPair authority;  // a text is empty if its file is missing or damaged
  crypto::KeyPair server;
  std::string wrong_key;           // why the authority cannot sign; empty: it can
  bool restore_authority = false;  // ca.crt was lost; server.crt contains a copy
  bool is_first_start = false;
  CertificateFacts facts;
};

Found Find(const config::Options& options, const Names& names) {
  const std::string directory = TlsDirectory(options) + "/";
  const auto read = [&](const char* name) { return ReadFile(directory + name).value_or(""); };
  const std::string server = read("server.crt");
  const std::string trust = read("ca.trust");
  Found found;
  found.authority = {ReadableCertificate(read("ca.crt")), read("ca.key")};
  found.server = {ReadableCertificate(server), read("server.key")};
  found.is_first_start = found.authority.certificate_pem.empty() &&
                         found.authority.key_pem.empty() && server.empty() &&
                         found.server.key_pem.empty();
  if (found.authority.certificate_pem.empty()) {
    found.authority.certificate_pem = ReadableCertificate(crypto::SecondOf(server));
    found.restore_authority = !found.authority.certificate_pem.empty();
  }
  CertificateFacts& facts = found.facts;
  bool unused = trust.starts_with("unused");
  if (const std::string& pem = found.authority.certificate_pem; !pem.empty()) {
    const crypto::CertificateInfo info = crypto::Inspect(pem);
    facts.authority = info.validity;
    unused = unused && trust.find(info.fingerprint_sha256) != std::string::npos;
  }
  facts.trusted = !unused && !found.is_first_start;
  found.wrong_key = WrongKey(found.authority.certificate_pem, found.authority.key_pem);
  facts.can_sign = found.wrong_key.empty();
  if (WrongKey(found.server.certificate_pem, found.server.key_pem).empty()) {
    const crypto::CertificateInfo info = crypto::Inspect(found.server.certificate_pem);
    facts.server = info.validity;
    facts.fits = Covers(info, names) &&
                 found.server.certificate_pem.ends_with(found.authority.certificate_pem);
  }
  return found;
}

// Called before the authority's files are replaced. It names both authorities, so that whichever of
// them a power cut leaves counts as unused.
void MarkUnused(const config::Options& options, const std::string& old_pem,
                const std::string& new_pem) {
  std::string text = "unused";
  for (const std::string& pem : {old_pem, new_pem}) {
    if (!pem.empty()) text += " " + crypto::Inspect(pem).fingerprint_sha256;
  }
  ReplaceFile(TrustPath(options), text + "\n", 0600);
}

crypto::KeyPair MakeAuthority(const config::Options& options, const crypto::Validity& validity,
                              const std::string& unused_pem) {
  const std::string directory = TlsDirectory(options);
  MakeDirectories(directory, 0700);
  crypto::KeyPair made = crypto::MakeAuthority("Comanda " + HostName(), validity);
  MarkUnused(options, unused_pem, made.certificate_pem);
  // The key first, so that the directory never holds a new certificate whose key is not on disk.
  ReplaceFile(directory + "/ca.key", made.key_pem, 0600);
  ReplaceFile(directory + "/ca.crt", made.certificate_pem, 0644);
  return made;
}

// A certificate that cannot be written is presented nevertheless, and made again at the next look.
void WriteServer(const config::Options& options, const crypto::KeyPair& pair) {
  const std::string directory = TlsDirectory(options);
  try {
    ReplaceFile(directory + "/server.key", pair.key_pem, 0600);
    ReplaceFile(directory + "/server.crt", pair.certificate_pem, 0644);
  } catch (const Fault& fault) {
    log::Error("the new certificate is served, but could not be written", {{"why", fault.cause}});
  }
}

std::string Day(UtcMs instant) { return FormatInstant(instant).substr(0, 10); }

std::string Explain(CertificateTrouble trouble, const Found& found, const CertificateTimes& times) {
  const std::string clock = "the clock shows " + Day(times.wall);
  const std::string renew =
      "`comanda tls renew-authority` makes a new one, which every device must then install";
  const crypto::Validity authority = found.facts.authority.value_or(crypto::Validity());
  const crypto::Validity server = found.facts.server.value_or(crypto::Validity());
  switch (trouble) {
    case CertificateTrouble::kNone:
      return {};
    case CertificateTrouble::kAuthorityNotYetValid:
      return "devices refuse tls/ca.crt: it is valid from " + Day(authority.not_before) +
             " on, and " + clock + "; set the clock where it is wrong, else " + renew;
    case CertificateTrouble::kAuthorityEnded:
      return "devices refuse tls/ca.crt: it ended on " + Day(authority.not_after) + ", and " +
             clock + "; set the clock where it is wrong, else " + renew;
    case CertificateTrouble::kAuthorityEndsSoon:
      return "tls/ca.crt ends on " + Day(authority.not_after) + ", and " + clock + "; " + renew;
    case CertificateTrouble::kCannotSign:
      return "tls/ca.key cannot be used (" + found.wrong_key +
             "): the certificate that is served "
             "ends on " +
             Day(server.not_after) +
             " and cannot be renewed; restore tls/ca.key from a backup, else " + renew;
    case CertificateTrouble::kServerNotYetValid:
      return "devices refuse the certificate: it is valid from " + Day(server.not_before) +
             " on, " + clock +
             ", and without tls/ca.key it cannot be made again; set the clock "
             "where it is wrong, restore tls/ca.key from a backup, else " +
             renew;
    case CertificateTrouble::kServerEnded:
      return "devices refuse the certificate: it ended on " + Day(server.not_after) + ", " + clock +
             ", and without tls/ca.key it cannot be made again; set the clock where it is wrong, "
             "restore tls/ca.key from a backup, else " +
             renew;
  }
  return {};
}

std::string ExplainOwners(const crypto::Validity& server, const CertificateTimes& times) {
  const CertificateTrouble trouble = JudgeOwners(server, times);
  if (trouble == CertificateTrouble::kNone) return {};
  const bool early = trouble == CertificateTrouble::kServerNotYetValid;
  return "devices refuse the certificate named by tls_certificate: it " +
         std::string(early ? "is valid from " : "ended on ") +
         Day(early ? server.not_before : server.not_after) + (early ? " on" : "") +
         ", and the clock shows " + Day(times.wall) +
         "; set the clock where it is wrong, else renew the certificate and reload";
}

ServedCertificate ServeOwners(const config::Options& options, const CertificateTimes& times) {
  ServedCertificate served{.pair = OwnersPair(options)};
  served.trouble = ExplainOwners(crypto::Inspect(served.pair.certificate_pem).validity, times);
  return served;
}

[[noreturn]] void ThrowNothingToServe(const config::Options& options, const Found& found) {
  throw Fault(Fault::Kind::kDamaged,
              TlsDirectory(options) + ": ca.key cannot be used (" + found.wrong_key +
                  ") and there is no server certificate; devices trust the authority that was "
                  "there: restore the directory from a backup, or `comanda tls renew-authority` "
                  "makes a new one, which every device must then install");
}

// The authority to sign with; makes it if the decision is kRemakeAuthority.
crypto::KeyPair AuthorityOf(const config::Options& options, const Found& found,
                            const CertificateDecision& decision) {
  if (decision.action != CertificateAction::kRemakeAuthority) return found.authority;
  if (!found.is_first_start) {
    log::Warning("made a new certificate authority; no device can have trusted the one before",
                 {{"file", AuthorityPath(options)},
                  {"why", found.wrong_key.empty() ? "its dates" : found.wrong_key}});
  }
  return MakeAuthority(options, decision.authority, found.authority.certificate_pem);
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

std::set<std::string> MachineAddresses() {
  std::set<std::string> addresses;
  AddInterfaceAddresses(addresses);
  return addresses;
}

std::string LanAddress() {
  // Connecting a datagram socket sends nothing. 192.0.2.1 is no machine's (RFC 5737).
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in other{};
  other.sin_family = AF_INET;
  other.sin_port = htons(9);
  other.sin_addr.s_addr = htonl(0xC0000201);
  sockaddr_in own{};
  socklen_t size = sizeof own;
  char text[INET_ADDRSTRLEN] = "";
  if (socket && ::connect(socket.get(), reinterpret_cast<sockaddr*>(&other), sizeof other) == 0 &&
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) == 0) {
    ::inet_ntop(AF_INET, &own.sin_addr, text, sizeof text);
    return text;
  }
  const std::set<std::string> all = MachineAddresses();
  const std::set<std::string> recorded = RecordedAddresses(all);
  if (!recorded.empty()) return *recorded.begin();
  const auto ipv6 = std::ranges::find_if(all, [](const std::string& one) {
    return one.find(':') != std::string::npos && one != "::1";
  });
  return ipv6 == all.end() ? "" : *ipv6;
}

std::string LocalName() {
  const std::string host = HostName();
  return host.substr(0, host.find('.')) + ".local";
}

ServedCertificate CurrentCertificate(const config::Options& options, const Names& names,
                                     const CertificateTimes& times) {
  if (!options.tls_certificate.empty()) return ServeOwners(options, times);

  MakeDirectories(TlsDirectory(options), 0700);
  const Found found = Find(options, names);
  const CertificateDecision decision = DecideCertificates(found.facts, times);
  if (decision.action == CertificateAction::kNothingToServe) ThrowNothingToServe(options, found);
  if (found.restore_authority && decision.action != CertificateAction::kRemakeAuthority) {
    ReplaceFile(AuthorityPath(options), found.authority.certificate_pem, 0644);
    log::Warning("tls/ca.crt was lost and is restored from the server certificate");
  }
  ServedCertificate served{.pair = found.server,
                           .unused = !found.facts.trusted,
                           .trouble = Explain(decision.trouble, found, times)};
  if (decision.action == CertificateAction::kKeep) return served;

  const crypto::KeyPair authority = AuthorityOf(options, found, decision);
  served.pair = crypto::MakeServerCertificate(
      authority, HostName(), {names.dns.begin(), names.dns.end()},
      {names.addresses.begin(), names.addresses.end()}, decision.server);
  served.renewed = true;
  WriteServer(options, served.pair);
  return served;
}

CertificateReport InspectCertificate(const config::Options& options, const Names& names,
                                     const CertificateTimes& times) {
  if (!options.tls_certificate.empty()) {
    const ServedCertificate served = ServeOwners(options, times);
    return {.server = crypto::Inspect(served.pair.certificate_pem).validity,
            .authority = {},
            .will_be_made = false,
            .trouble = served.trouble};
  }
  const Found found = Find(options, names);
  const CertificateDecision decision = DecideCertificates(found.facts, times);
  if (decision.action == CertificateAction::kNothingToServe) ThrowNothingToServe(options, found);
  return {.server = found.facts.server,
          .authority = found.facts.authority,
          .will_be_made = decision.action != CertificateAction::kKeep,
          .trouble = Explain(decision.trouble, found, times)};
}

crypto::KeyPair RenewAuthority(const config::Options& options, const CertificateTimes& times) {
  return MakeAuthority(options, NewAuthority(times), "");
}

std::optional<std::string> AuthorityPin(const config::Options& options) {
  if (!options.tls_certificate.empty()) return std::nullopt;
  const auto pem = ReadFile(AuthorityPath(options));
  if (!pem || ReadableCertificate(*pem).empty()) return std::nullopt;
  constexpr std::string_view kPrefix = "sha256//";
  return crypto::Base64UrlOf(crypto::Inspect(*pem).public_key_pin.substr(kPrefix.size()));
}

std::string AuthorityPath(const config::Options& options) {
  return TlsDirectory(options) + "/ca.crt";
}

Certificates::Certificates(const config::Options& options, const Names& names, const Clock& clock)
    : clock_(clock), directory_(TlsDirectory(options)) {
  Adopt(CurrentCertificate(options, names, Times()));
}

CertificateTimes Certificates::Times() const {
  return {.wall = clock_.Now(), .settled = clock_.RetentionNow(), .built = BuildDate()};
}

void Certificates::Adopt(ServedCertificate served) {
  unused_ = served.unused;
  if (served.trouble != trouble_) {
    if (served.trouble.empty()) {
      log::Notice("the certificates are well again");
    } else {
      log::Warning("certificates", {{"trouble", served.trouble}});
    }
    trouble_ = served.trouble;
  }
  served_ = std::move(served);
}

void Certificates::Look(const config::Options& options, const Names& names, wire::Tls& tls) {
  const std::lock_guard lock(mutex_);
  ServedCertificate served = CurrentCertificate(options, names, Times());
  if (served.renewed) {
    tls.Replace(served.pair);
    log::Notice("certificate renewed");
  } else {
    served.pair = served_.pair;
  }
  Adopt(std::move(served));
}

void Certificates::Reload(const config::Options& options, const Names& names, wire::Tls& tls) {
  const std::lock_guard lock(mutex_);
  ServedCertificate served = CurrentCertificate(options, names, Times());
  tls.Replace(served.pair);
  Adopt(std::move(served));
}

void Certificates::RecordTrust() noexcept {
  if (!unused_.load(std::memory_order_relaxed)) return;
  if (clock_.MonotonicMs() < record_again_at_ms_) return;  // limits the tries on a full disk
  try {
    const std::lock_guard lock(mutex_);
    if (!unused_) return;
    ReplaceFile(directory_ + "/ca.trust", "used\n", 0600);
    unused_ = false;
  } catch (const std::exception& error) {
    record_again_at_ms_ = clock_.MonotonicMs() + kRecordAgainMs;
    log::Error("that devices trust tls/ca.crt is not written down yet", {{"why", error.what()}});
  }
}

std::string Certificates::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace comanda::ops
