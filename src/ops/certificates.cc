#include "ops/certificates.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/address.h"
#include "base/build_date.h"
#include "base/file.h"
#include "base/handle.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/text.h"
#include "crypto/hash.h"
#include "ops/addresses.h"
#include "ops/local_name.h"

namespace comanda::ops {
namespace {

constexpr int64_t kRecordAgainMs = 10'000;

std::string TlsDirectory(const config::Options& options) { return options.data_directory + "/tls"; }

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

// The names that the authority may issue a certificate for; all of them where it has no
// constraints. An authority of an older program has none.
Names Permitted(const Names& names, const std::string& authority_pem) {
  if (authority_pem.empty()) return names;
  const std::optional<crypto::Permitted> permitted = crypto::Inspect(authority_pem).permitted;
  if (!permitted) return names;
  Names allowed;
  for (const std::string& name : names.dns) {
    if (permitted->AllowsName(name)) allowed.dns.insert(name);
  }
  for (const std::string& address : names.addresses) {
    if (permitted->AllowsAddress(address)) allowed.addresses.insert(address);
  }
  return allowed;
}

bool IsIpv6(std::string_view address) { return address.find(':') != std::string_view::npos; }

// What a new authority may issue certificates for: all that a box in a LAN is called by, and what
// its owner calls it by now. An IPv4 address of its own that is not private belongs to a LAN with
// such addresses; IPv6 addresses of a provider change.
crypto::Permitted Constraints(const config::Options& options) {
  crypto::Permitted permitted{
      .dns_names = {"localhost", "local", "home.arpa"},
      .ranges = {"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16",
                 "::1/128", "fc00::/7", "fe80::/10"}};
  const Names own = MachineNames(options);
  for (const std::string& name : own.dns) {
    if (!permitted.AllowsName(name)) permitted.dns_names.push_back(name);
  }
  const auto is_named = [&](const std::string& address) {
    return std::ranges::find(options.hosts, address) != options.hosts.end();
  };
  for (const std::string& address : own.addresses) {
    if ((!IsIpv6(address) || is_named(address)) && !permitted.AllowsAddress(address)) {
      permitted.ranges.push_back(address);
    }
  }
  return permitted;
}

// The files of DIR/tls. The authority that signs is either issuing.crt below the root ca.crt, or,
// of an older program, ca.crt itself. ca.key is the key of the one that signs.
struct Found {
  std::string root_pem;       // ca.crt, which devices trust; empty if it is missing or damaged
  crypto::KeyPair authority;  // the one that signs; its certificate is followed by the root
  crypto::KeyPair server;
  std::string wrong_key;           // why the authority cannot sign; empty: it can
  bool restore_authority = false;  // ca.crt was lost; server.crt contains a copy
  bool restore_issuing = false;    // the same of issuing.crt
  bool is_first_start = false;
  CertificateFacts facts;
};

std::string IssuingPath(const config::Options& options) {
  return TlsDirectory(options) + "/issuing.crt";
}

// Finds the certificates of the authority in their files, else in the chain of server.crt.
void FindAuthority(const config::Options& options, const std::string& server, Found& found) {
  const std::vector<std::string> chain = crypto::SplitChain(server);
  found.root_pem = ReadableCertificate(ReadFile(AuthorityPath(options)).value_or(""));
  if (found.root_pem.empty() && chain.size() > 1) {
    found.root_pem = ReadableCertificate(chain.back());
    found.restore_authority = !found.root_pem.empty();
  }
  if (WrongKey(found.root_pem, found.authority.key_pem).empty()) {
    found.authority.certificate_pem = found.root_pem;
    return;
  }
  std::string issuing = ReadableCertificate(ReadFile(IssuingPath(options)).value_or(""));
  if (issuing.empty() && chain.size() > 2) {
    issuing = ReadableCertificate(chain[1]);
    found.restore_issuing = !issuing.empty();
  }
  found.authority.certificate_pem = issuing + found.root_pem;
  if (found.root_pem.empty()) found.authority.certificate_pem.clear();
  found.wrong_key = WrongKey(found.authority.certificate_pem, found.authority.key_pem);
  if (found.wrong_key.empty() && !issuing.empty() && !crypto::IsSignedBy(issuing, found.root_pem)) {
    found.wrong_key = "it belongs to issuing.crt, which ca.crt has not signed";
  }
}

// The time in which the authority that signs and the root above it are both valid.
crypto::Validity ValidityOf(const Found& found) {
  crypto::Validity validity = crypto::Inspect(found.authority.certificate_pem).validity;
  const crypto::Validity root = crypto::Inspect(found.root_pem).validity;
  return {std::max(validity.not_before, root.not_before),
          std::min(validity.not_after, root.not_after)};
}

Found Find(const config::Options& options, const Names& names) {
  const std::string directory = TlsDirectory(options) + "/";
  const auto read = [&](const char* name) { return ReadFile(directory + name).value_or(""); };
  const std::string server = read("server.crt");
  const std::string trust = read("ca.trust");
  Found found;
  found.authority.key_pem = read("ca.key");
  found.server = {ReadableCertificate(server), read("server.key")};
  found.is_first_start = ReadableCertificate(read("ca.crt")).empty() &&
                         found.authority.key_pem.empty() && server.empty() &&
                         found.server.key_pem.empty();
  FindAuthority(options, server, found);
  CertificateFacts& facts = found.facts;
  bool unused = trust.starts_with("unused");
  if (!found.root_pem.empty()) {
    facts.authority = ValidityOf(found);
    unused = unused &&
             trust.find(crypto::Inspect(found.root_pem).fingerprint_sha256) != std::string::npos;
  }
  facts.trusted = !unused && !found.is_first_start;
  facts.can_sign = found.wrong_key.empty();
  if (WrongKey(found.server.certificate_pem, found.server.key_pem).empty()) {
    const crypto::CertificateInfo info = crypto::Inspect(found.server.certificate_pem);
    facts.server = info.validity;
    facts.fits = Covers(info, Permitted(names, found.authority.certificate_pem)) &&
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

// Returns what signs, followed by the root.
crypto::KeyPair MakeAuthority(const config::Options& options, const crypto::Validity& validity,
                              const std::string& unused_pem) {
  const std::string directory = TlsDirectory(options);
  MakeDirectories(directory, 0700);
  const crypto::Authority made =
      crypto::MakeAuthority("Comanda " + LocalLabel(HostName()), validity, Constraints(options));
  MarkUnused(options, unused_pem, made.root_pem);
  // The key first, so that the directory never holds a new certificate whose key is not on disk.
  ReplaceFile(directory + "/ca.key", made.issuing.key_pem, 0600);
  ReplaceFile(IssuingPath(options), made.issuing.certificate_pem, 0644);
  ReplaceFile(AuthorityPath(options), made.root_pem, 0644);
  return {made.issuing.certificate_pem + made.root_pem, made.issuing.key_pem};
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
  return MakeAuthority(options, decision.authority, found.root_pem);
}

// What `make` returns; nothing where the disk is read-only.
template <typename Make>
auto UnlessReadOnly(Make&& make) -> std::optional<decltype(make())> {
  try {
    return make();
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDiskReadOnly) throw;
    log::Warning("certificates stay as they are: the disk is read-only", {{"why", fault.cause}});
    return std::nullopt;
  }
}

void RestoreLost(const config::Options& options, const Found& found) {
  if (found.restore_authority) {
    ReplaceFile(AuthorityPath(options), found.root_pem, 0644);
    log::Warning("tls/ca.crt was lost and is restored from the server certificate");
  }
  if (found.restore_issuing) {
    ReplaceFile(IssuingPath(options), crypto::SplitChain(found.authority.certificate_pem).front(),
                0644);
    log::Warning("tls/issuing.crt was lost and is restored from the server certificate");
  }
}

// The names and IPv4 addresses of the machine that are not permitted, with blanks. IPv6 addresses
// of a provider never are: nobody is told to use them.
std::string LeftOut(const Names& names, const Names& permitted) {
  std::string text;
  for (const auto& [all, some] :
       {std::pair(&names.dns, &permitted.dns), std::pair(&names.addresses, &permitted.addresses)}) {
    for (const std::string& one : *all) {
      if (!some->contains(one) && !IsIpv6(one)) text += (text.empty() ? "" : " ") + one;
    }
  }
  return text;
}

void LogLeftOut(const Names& names, const Names& permitted) {
  const std::string left_out = LeftOut(names, permitted);
  if (left_out.empty()) return;
  log::Warning(
      "the certificate does not have all names of this machine",
      {{"without", left_out},
       {"meaning",
        "the authority that devices trust may not sign them: devices that connect by one of "
        "them refuse the box; use NAME.local or a private address, or `comanda tls "
        "renew-authority`, which every device must then install"}});
}

}  // namespace

bool Names::Allows(std::string_view host) const {
  const std::string name(host);
  if (dns.contains(name) || addresses.contains(name)) return true;
  const size_t dot = name.find('.');
  return dot != name.npos && dot > 0 && dns.contains("*" + name.substr(dot));
}

namespace {

// The names in the owner's certificate are names of the box. A certificate that cannot be read is
// reported where it is served.
void AddOwnersNames(const config::Options& options, Names& names) {
  if (options.tls_certificate.empty()) return;
  try {
    const auto pem = ReadFile(options.tls_certificate);
    if (!pem) return;
    const crypto::CertificateInfo info = crypto::Inspect(*pem);
    for (const std::string& name : info.dns_names) names.dns.insert(AsciiLower(name));
    names.addresses.insert(info.addresses.begin(), info.addresses.end());
  } catch (const Refusal&) {
  } catch (const Fault&) {
  }
}

}  // namespace

Names MachineNames(const config::Options& options) {
  Names names;
  const std::string host = AsciiLower(HostName());
  const std::string label = LocalLabel(host);
  names.dns = {"localhost", "comanda.local", label, label + ".local"};
  // Java refuses a whole certificate with a name in it that is none.
  if (IsDnsName(host)) names.dns.insert(host);
  names.addresses = {"127.0.0.1", "::1"};
  AddInterfaceAddresses(names.addresses);
  for (const std::string& further : options.hosts) {
    unsigned char address[sizeof(in6_addr)];
    const bool numeric = ::inet_pton(AF_INET, further.c_str(), address) == 1 ||
                         ::inet_pton(AF_INET6, further.c_str(), address) == 1;
    (numeric ? names.addresses : names.dns).insert(AsciiLower(further));
  }
  AddOwnersNames(options, names);
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

ServedCertificate CurrentCertificate(const config::Options& options, const Names& names,
                                     const CertificateTimes& times) {
  if (!options.tls_certificate.empty()) return ServeOwners(options, times);

  MakeDirectories(TlsDirectory(options), 0700);
  const Found found = Find(options, names);
  const CertificateDecision decision = DecideCertificates(found.facts, times);
  if (decision.action == CertificateAction::kNothingToServe) ThrowNothingToServe(options, found);
  if (decision.action != CertificateAction::kRemakeAuthority) {
    UnlessReadOnly([&] {
      RestoreLost(options, found);
      return true;
    });
  }
  ServedCertificate served{.pair = found.server,
                           .unused = !found.facts.trusted,
                           .root_pem = found.root_pem,
                           .trouble = Explain(decision.trouble, found, times)};
  if (decision.action == CertificateAction::kKeep) return served;

  const auto signing = UnlessReadOnly([&] { return AuthorityOf(options, found, decision); });
  if (!signing) {
    const crypto::KeyPair& old = found.server;
    if (WrongKey(old.certificate_pem, old.key_pem).empty()) return served;
    throw Fault(Fault::Kind::kDiskReadOnly,
                TlsDirectory(options) +
                    " has no certificate to serve, and the disk is read-only: make it writable");
  }
  const crypto::KeyPair& authority = *signing;
  served.root_pem = crypto::SplitChain(authority.certificate_pem).back();
  const Names permitted = Permitted(names, authority.certificate_pem);
  LogLeftOut(names, permitted);
  served.pair = crypto::MakeServerCertificate(
      authority, LocalLabel(HostName()), {permitted.dns.begin(), permitted.dns.end()},
      {permitted.addresses.begin(), permitted.addresses.end()}, decision.server);
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
          .trouble = Explain(decision.trouble, found, times),
          .left_out = LeftOut(names, Permitted(names, found.authority.certificate_pem))};
}

std::string RenewAuthority(const config::Options& options, const CertificateTimes& times) {
  return crypto::SplitChain(MakeAuthority(options, NewAuthority(times), "").certificate_pem).back();
}

std::optional<std::string> AuthorityPin(const config::Options& options) {
  if (!options.tls_certificate.empty()) return std::nullopt;
  const auto pem = ReadFile(AuthorityPath(options));
  if (!pem || ReadableCertificate(*pem).empty()) return std::nullopt;
  return UrlPin(crypto::Inspect(*pem));
}

std::string UrlPin(const crypto::CertificateInfo& authority) {
  constexpr std::string_view kPrefix = "sha256//";
  if (!authority.public_key_pin.starts_with(kPrefix)) return {};
  return crypto::Base64UrlOf(authority.public_key_pin.substr(kPrefix.size()));
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
      log::Notice("the certificates can be used again");
    } else {
      log::Warning("certificates", {{"trouble", served.trouble}});
    }
    trouble_ = served.trouble;
  }
  authority_pem_ = served.root_pem;
  served_ = std::move(served);
}

ServedCertificate Certificates::CurrentOrNote(const config::Options& options, const Names& names) {
  const auto note = [&](const std::string& why) {
    trouble_ = why + "; the certificate that was read before is served until the next start";
  };
  try {
    return CurrentCertificate(options, names, Times());
  } catch (const Refusal& refusal) {
    note(refusal.detail);
    throw;
  } catch (const Fault& fault) {
    note(fault.cause);
    throw;
  }
}

void Certificates::Look(const config::Options& options, const Names& names, wire::Tls& tls) {
  const std::lock_guard lock(mutex_);
  ServedCertificate served = CurrentOrNote(options, names);
  if (served.renewed) {
    tls.Replace(served.pair);
    log::Notice("certificate renewed");
  } else {
    is_newer_on_disk_ = options.tls_certificate.empty() &&
                        served.pair.certificate_pem != served_.pair.certificate_pem;
    served.pair = served_.pair;
  }
  Adopt(std::move(served));
}

void Certificates::Reload(const config::Options& options, const Names& names, wire::Tls& tls) {
  const std::lock_guard lock(mutex_);
  ServedCertificate served = CurrentCertificate(options, names, Times());
  tls.Replace(served.pair);
  is_newer_on_disk_ = false;
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
    log::Error("could not record yet that devices trust tls/ca.crt", {{"why", error.what()}});
  }
}

std::string Certificates::authority_pem() const {
  const std::lock_guard lock(mutex_);
  return authority_pem_;
}

bool Certificates::is_newer_on_disk() const {
  const std::lock_guard lock(mutex_);
  return is_newer_on_disk_;
}

std::string Certificates::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace comanda::ops
