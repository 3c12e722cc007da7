#include "crypto/certificate.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <memory>
#include <span>

#include "base/address.h"
#include "base/problem.h"
#include "base/random.h"
#include "crypto/hash.h"

#include "mbedtls/asn1.h"
#include "mbedtls/ecp.h"
#include "mbedtls/error.h"
#include "mbedtls/md.h"
#include "mbedtls/oid.h"
#include "mbedtls/pk.h"
#include "mbedtls/x509_crt.h"

namespace comanda::crypto {
namespace {

constexpr int64_t kDayMs = 86'400'000;
// Ten years.
constexpr int64_t kAuthorityDays = 3652;
constexpr int64_t kServerDays = 90;
constexpr size_t kPemBytesMax = 64 * 1024;
constexpr size_t kSerialBytes = 16;
constexpr size_t kNamesMax = 100;

constexpr int kSanDnsName = MBEDTLS_X509_SAN_DNS_NAME;
constexpr int kSanAddress = MBEDTLS_X509_SAN_IP_ADDRESS;

// An mbedTLS structure, initialised and freed by the functions given.
template <typename T, void (*init)(T*), void (*free)(T*)>
class Owned {
 public:
  Owned() { init(&value_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { free(&value_); }
  T* get() { return &value_; }
  T* operator->() { return &value_; }

 private:
  T value_;
};

using Key = Owned<mbedtls_pk_context, mbedtls_pk_init, mbedtls_pk_free>;
using Certificate = Owned<mbedtls_x509_crt, mbedtls_x509_crt_init, mbedtls_x509_crt_free>;
using Draft = Owned<mbedtls_x509write_cert, mbedtls_x509write_crt_init, mbedtls_x509write_crt_free>;

int Random(void*, unsigned char* out, size_t size) {
  FillRandom({out, size});
  return 0;
}

std::string Reason(int result) {
  std::array<char, 160> text{};
  mbedtls_strerror(result, text.data(), text.size());
  return text.data();
}

void Require(int result, std::string_view action) {
  if (result < 0) {
    throw Fault(Fault::Kind::kInternal, std::string(action) + ": " + Reason(result));
  }
}

const unsigned char* Bytes(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.c_str());
}

// Reading.

void ReadCertificates(Certificate& certificate, std::string_view pem) {
  if (pem.find("-----BEGIN CERTIFICATE-----") == std::string_view::npos) {
    throw Invalid("certificate", FieldCode::kInvalidFormat,
                  "no certificate was found; a PEM file with BEGIN CERTIFICATE is needed");
  }
  // mbedTLS requires a terminating NUL, counted in the length.
  const std::string text(pem);
  const int result = mbedtls_x509_crt_parse(certificate.get(), Bytes(text), text.size() + 1);
  // A positive result is the number of certificates of the chain that were skipped.
  if (result != 0) {
    const std::string reason = result < 0 ? Reason(result) : "a part of the chain is unknown";
    throw Invalid("certificate", FieldCode::kInvalidFormat,
                  "the certificate cannot be read: " + reason);
  }
}

// Empty if the key was parsed, else what is wrong.
std::string ReadKey(Key& key, std::string_view pem) {
  const std::string text(pem);
  const int result =
      mbedtls_pk_parse_key(key.get(), Bytes(text), text.size() + 1, nullptr, 0, Random, nullptr);
  if (result == 0) return {};
  if (result == MBEDTLS_ERR_PK_PASSWORD_REQUIRED) {
    return "the private key is protected by a password; one without is needed";
  }
  return "the private key cannot be read: " + Reason(result);
}

std::string NameText(const mbedtls_x509_name& name, std::string_view action) {
  std::array<char, 2048> text{};
  Require(mbedtls_x509_dn_gets(text.data(), text.size(), &name), action);
  return text.data();
}

std::string SubjectOf(const mbedtls_x509_crt& certificate) {
  return NameText(certificate.subject, "read subject");
}

std::string PinOf(const mbedtls_pk_context& key) {
  // Larger than an RSA key of 16,384 bits. mbedTLS writes at its end.
  std::array<unsigned char, 4'096> der;
  const int size = mbedtls_pk_write_pubkey_der(&key, der.data(), der.size());
  if (size <= 0) return {};
  const char* const end = reinterpret_cast<const char*>(der.data()) + der.size();
  const auto bytes = static_cast<size_t>(size);
  return "sha256//" + Base64(Sha256({end - bytes, bytes}));
}

UtcMs ToUtcMs(const mbedtls_x509_time& time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02dZ", time.year, time.mon,
                time.day, time.hour, time.min, time.sec);
  return ParseInstant(text.data()).value_or(0);
}

std::string Fingerprint(const mbedtls_x509_buf& der) {
  const std::string hex = Sha256Hex({reinterpret_cast<const char*>(der.p), der.len});
  std::string out;
  for (size_t i = 0; i < hex.size(); ++i) {
    if (i > 0 && i % 2 == 0) out += ':';
    out += hex[i] >= 'a' ? static_cast<char>(hex[i] - 'a' + 'A') : hex[i];
  }
  return out;
}

void ReadName(CertificateInfo& info, const mbedtls_x509_buf& name) {
  const int kind = name.tag & MBEDTLS_ASN1_TAG_VALUE_MASK;
  if (kind == kSanDnsName) {
    info.dns_names.emplace_back(reinterpret_cast<const char*>(name.p), name.len);
  } else if (kind == kSanAddress && (name.len == 4 || name.len == 16)) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(name.len == 4 ? AF_INET : AF_INET6, name.p, text.data(), text.size());
    info.addresses.emplace_back(text.data());
  }
}

// Writing.

// Escapes the separators of a distinguished name (RFC 4514 section 2.4).
std::string DistinguishedName(std::string_view common_name) {
  std::string out = "CN=";
  for (const char c : common_name) {
    if (std::string_view(",+\"\\<>;=#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// "YYYYMMDDhhmmss", the form that mbedTLS takes.
std::string ValidityText(UtcMs instant) {
  std::string text = FormatInstant(instant).substr(0, 19);
  std::erase_if(text, [](char c) { return c < '0' || c > '9'; });
  return text;
}

void GenerateKey(Key& key) {
  Require(mbedtls_pk_setup(key.get(), mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY)), "set up key");
  Require(mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(*key.get()), Random, nullptr),
          "generate key");
}

std::string KeyPem(Key& key) {
  std::array<unsigned char, 1024> pem{};
  const int result = mbedtls_pk_write_key_pem(key.get(), pem.data(), pem.size());
  std::string text(reinterpret_cast<const char*>(pem.data()));
  std::ranges::fill(pem, static_cast<unsigned char>(0));
  Require(result, "write key");
  return text;
}

// The fields common to all certificates created here. The issuer's key must be set before.
void Describe(Draft& draft, Key& subject_key, const std::string& subject,
              const Validity& validity) {
  std::array<uint8_t, kSerialBytes> serial{};
  FillRandom(serial);
  // Positive and of full length (RFC 5280 section 4.1.2.2).
  serial[0] = static_cast<uint8_t>((serial[0] & 0x7f) | 0x40);
  mbedtls_x509write_crt_set_version(draft.get(), MBEDTLS_X509_CRT_VERSION_3);
  mbedtls_x509write_crt_set_md_alg(draft.get(), MBEDTLS_MD_SHA256);
  mbedtls_x509write_crt_set_subject_key(draft.get(), subject_key.get());
  Require(mbedtls_x509write_crt_set_serial_raw(draft.get(), serial.data(), serial.size()),
          "set serial");
  Require(mbedtls_x509write_crt_set_subject_name(draft.get(), subject.c_str()), "set subject");
  Require(mbedtls_x509write_crt_set_validity(draft.get(), ValidityText(validity.not_before).c_str(),
                                             ValidityText(validity.not_after).c_str()),
          "set validity");
  Require(mbedtls_x509write_crt_set_subject_key_identifier(draft.get()), "set subject key id");
  Require(mbedtls_x509write_crt_set_authority_key_identifier(draft.get()), "set issuer key id");
}

std::string CertificatePem(Draft& draft) {
  std::string pem(kPemBytesMax, '\0');
  Require(mbedtls_x509write_crt_pem(draft.get(), reinterpret_cast<unsigned char*>(pem.data()),
                                    pem.size(), Random, nullptr),
          "write certificate");
  pem.resize(pem.find('\0'));
  return pem;
}

// Names and addresses as the linked list that mbedTLS takes. The list points into this object.
class AlternativeNames {
 public:
  AlternativeNames(const std::vector<std::string>& dns_names,
                   const std::vector<std::string>& addresses) {
    if (dns_names.empty() && addresses.empty()) {
      throw Invalid("names", FieldCode::kRequired, "a name or an address is needed");
    }
    if (dns_names.size() + addresses.size() > kNamesMax) {
      throw Invalid("names", FieldCode::kTooManyItems,
                    "at most " + std::to_string(kNamesMax) + " names and addresses are possible");
    }
    entries_.reserve(dns_names.size() + addresses.size());
    for (const std::string& name : dns_names) entries_.push_back({kSanDnsName, name});
    for (const std::string& address : addresses) {
      entries_.push_back({kSanAddress, AddressBytes(address)});
    }
    Link();
  }
  AlternativeNames(const AlternativeNames&) = delete;
  AlternativeNames& operator=(const AlternativeNames&) = delete;

  const mbedtls_x509_san_list* list() const { return &nodes_.back(); }

 private:
  struct Entry {
    int kind;
    std::string bytes;
  };

  static std::string AddressBytes(const std::string& address) {
    std::array<char, sizeof(in6_addr)> bytes{};
    if (::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return {bytes.data(), 4};
    if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) return {bytes.data(), 16};
    throw Invalid("addresses", FieldCode::kInvalidFormat,
                  "\"" + address + "\" is not a numeric IPv4 or IPv6 address");
  }

  // Links the entries in reverse, because mbedTLS writes the last element of the list first.
  void Link() {
    nodes_.resize(entries_.size());
    for (size_t i = 0; i < entries_.size(); ++i) {
      nodes_[i].node.type = entries_[i].kind;
      nodes_[i].node.san.unstructured_name.tag = entries_[i].kind;
      nodes_[i].node.san.unstructured_name.p =
          reinterpret_cast<unsigned char*>(entries_[i].bytes.data());
      nodes_[i].node.san.unstructured_name.len = entries_[i].bytes.size();
      nodes_[i].next = i > 0 ? &nodes_[i - 1] : nullptr;
    }
  }

  std::vector<Entry> entries_;
  std::vector<mbedtls_x509_san_list> nodes_;
};

void AllowServerAuthentication(Draft& draft) {
  std::string oid = MBEDTLS_OID_SERVER_AUTH;
  mbedtls_asn1_sequence usage{};
  usage.buf.tag = MBEDTLS_ASN1_OID;
  usage.buf.p = reinterpret_cast<unsigned char*>(oid.data());
  usage.buf.len = MBEDTLS_OID_SIZE(MBEDTLS_OID_SERVER_AUTH);
  Require(mbedtls_x509write_crt_set_ext_key_usage(draft.get(), &usage), "set extended key usage");
}

void DescribeAuthority(Draft& draft, const std::string& issuer_name, int path_length) {
  Require(mbedtls_x509write_crt_set_issuer_name(draft.get(), issuer_name.c_str()), "set issuer");
  Require(mbedtls_x509write_crt_set_basic_constraints(draft.get(), 1, path_length),
          "set constraints");
  Require(mbedtls_x509write_crt_set_key_usage(
              draft.get(), MBEDTLS_X509_KU_KEY_CERT_SIGN | MBEDTLS_X509_KU_CRL_SIGN),
          "set key usage");
}

// Name constraints in DER (X.690), which mbedTLS neither writes nor reads.

constexpr std::string_view kNameConstraints = "\x55\x1d\x1e";  // 2.5.29.30
constexpr unsigned char kSequence = MBEDTLS_ASN1_CONSTRUCTED | MBEDTLS_ASN1_SEQUENCE;
constexpr unsigned char kPermittedSubtrees =
    MBEDTLS_ASN1_CONSTRUCTED | MBEDTLS_ASN1_CONTEXT_SPECIFIC | 0;
constexpr unsigned char kDnsName = MBEDTLS_ASN1_CONTEXT_SPECIFIC | 2;
constexpr unsigned char kIpAddress = MBEDTLS_ASN1_CONTEXT_SPECIFIC | 7;

std::string Tagged(unsigned char tag, std::string_view content) {
  std::string der(1, static_cast<char>(tag));
  if (content.size() >= 256) {
    der += '\x82';
    der += static_cast<char>(content.size() >> 8);
  } else if (content.size() >= 128) {
    der += '\x81';
  }
  der += static_cast<char>(content.size() & 0xff);
  return der.append(content);
}

// The bytes of a range's first address and of its mask.
std::string RangeBytes(const std::string& text) {
  const std::optional<AddressRange> range = AddressRange::Parse(text);
  if (!range) {
    throw Invalid("ranges", FieldCode::kInvalidFormat, "\"" + text + "\" is not a CIDR block");
  }
  const Address first = range->first();
  const Address last = range->last();
  std::string base;
  std::string mask;
  for (size_t i = range->is_ipv4() ? 12 : 0; i < first.size(); ++i) {
    base += static_cast<char>(first[i]);
    mask += static_cast<char>(~(first[i] ^ last[i]) & 0xff);
  }
  return base + mask;
}

void Constrain(Draft& draft, const Permitted& permitted) {
  std::string subtrees;
  for (const std::string& name : permitted.dns_names) {
    subtrees += Tagged(kSequence, Tagged(kDnsName, name));
  }
  for (const std::string& range : permitted.ranges) {
    subtrees += Tagged(kSequence, Tagged(kIpAddress, RangeBytes(range)));
  }
  const std::string der = Tagged(kSequence, Tagged(kPermittedSubtrees, subtrees));
  Require(mbedtls_x509write_crt_set_extension(
              draft.get(), kNameConstraints.data(), kNameConstraints.size(), 0,
              reinterpret_cast<const unsigned char*>(der.data()), der.size()),
          "set name constraints");
}

// Removes an element from the front of `der`. False if there is none of that tag.
bool TakeElement(std::string_view& der, unsigned char tag, std::string_view& content) {
  auto* at = reinterpret_cast<unsigned char*>(const_cast<char*>(der.data()));
  const unsigned char* const end = at + der.size();
  size_t size = 0;
  if (mbedtls_asn1_get_tag(&at, end, &size, tag) != 0) return false;
  content = {reinterpret_cast<const char*>(at), size};
  der.remove_prefix(static_cast<size_t>(content.data() + size - der.data()));
  return true;
}

// "192.168.0.0/16" from the bytes of an address and a mask; empty if they are neither's.
std::string RangeText(std::string_view bytes) {
  if (bytes.size() != 8 && bytes.size() != 32) return {};
  const size_t half = bytes.size() / 2;
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(half == 4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
  int bits = 0;
  for (const char c : bytes.substr(half)) bits += std::popcount(static_cast<unsigned char>(c));
  return std::string(text.data()) + "/" + std::to_string(bits);
}

void ReadSubtree(Permitted& permitted, std::string_view subtree) {
  std::string_view name;
  if (TakeElement(subtree, kDnsName, name)) {
    permitted.dns_names.emplace_back(name);
  } else if (TakeElement(subtree, kIpAddress, name)) {
    permitted.ranges.push_back(RangeText(name));
  }
}

std::optional<Permitted> ReadPermitted(const mbedtls_x509_crt& certificate) {
  std::string_view extensions(reinterpret_cast<const char*>(certificate.v3_ext.p),
                              certificate.v3_ext.len);
  std::string_view rest;
  if (!TakeElement(extensions, kSequence, rest)) return std::nullopt;
  std::string_view extension;
  while (TakeElement(rest, kSequence, extension)) {
    std::string_view oid, value, constraints, subtrees, subtree, ignored;
    if (!TakeElement(extension, MBEDTLS_ASN1_OID, oid) || oid != kNameConstraints) continue;
    TakeElement(extension, MBEDTLS_ASN1_BOOLEAN, ignored);
    if (!TakeElement(extension, MBEDTLS_ASN1_OCTET_STRING, value) ||
        !TakeElement(value, kSequence, constraints) ||
        !TakeElement(constraints, kPermittedSubtrees, subtrees)) {
      return std::nullopt;
    }
    Permitted permitted;
    while (TakeElement(subtrees, kSequence, subtree)) ReadSubtree(permitted, subtree);
    return permitted;
  }
  return std::nullopt;
}

}  // namespace

Validity AuthorityFrom(UtcMs now) {
  const UtcMs begin = now - kDayMs;
  return {begin, begin + kAuthorityDays * kDayMs};
}

Validity ServerFrom(UtcMs now) {
  const UtcMs begin = now - kDayMs;
  return {begin, begin + kServerDays * kDayMs};
}

Validity RootOf(const Validity& authority) {
  return {authority.not_before, authority.not_after + kAuthorityDays * kDayMs};
}

bool Permitted::AllowsName(std::string_view dns_name) const {
  return std::ranges::any_of(dns_names, [&](const std::string& base) {
    if (!dns_name.ends_with(base)) return false;
    const size_t before = dns_name.size() - base.size();
    return before == 0 || dns_name[before - 1] == '.';
  });
}

bool Permitted::AllowsAddress(std::string_view address) const {
  const std::optional<Address> parsed = ParseAddress(address);
  if (!parsed) return false;
  // A range of IPv4 addresses permits no IPv6 address, also not a mapped one.
  const bool is_ipv4 = address.find(':') == std::string_view::npos;
  return std::ranges::any_of(ranges, [&](const std::string& text) {
    const std::optional<AddressRange> range = AddressRange::Parse(text);
    return range && range->is_ipv4() == is_ipv4 && range->Contains(*parsed);
  });
}

Authority MakeAuthority(std::string_view common_name, const Validity& issuing,
                        const Permitted& permitted) {
  Key root_key;
  GenerateKey(root_key);
  Key issuing_key;
  GenerateKey(issuing_key);
  const std::string root_name = DistinguishedName(common_name);
  const std::string issuing_name = DistinguishedName(std::string(common_name) + " issuing");

  Draft root;
  mbedtls_x509write_crt_set_issuer_key(root.get(), root_key.get());
  Describe(root, root_key, root_name, RootOf(issuing));
  DescribeAuthority(root, root_name, 1);
  Authority made{.root_pem = CertificatePem(root), .issuing = {}};

  Draft below;
  mbedtls_x509write_crt_set_issuer_key(below.get(), root_key.get());
  Describe(below, issuing_key, issuing_name, issuing);
  DescribeAuthority(below, root_name, 0);
  Constrain(below, permitted);
  made.issuing = {CertificatePem(below), KeyPem(issuing_key)};
  return made;
}

KeyPair MakeServerCertificate(const KeyPair& authority, std::string_view common_name,
                              const std::vector<std::string>& dns_names,
                              const std::vector<std::string>& addresses, const Validity& validity) {
  if (const std::string wrong = Mismatch(authority.certificate_pem, authority.key_pem);
      !wrong.empty()) {
    throw Invalid("authority", FieldCode::kInvalidFormat, wrong);
  }
  Certificate issuer;
  ReadCertificates(issuer, authority.certificate_pem);
  Key issuer_key;
  ReadKey(issuer_key, authority.key_pem);
  Key key;
  GenerateKey(key);

  const AlternativeNames names(dns_names, addresses);
  Draft draft;
  mbedtls_x509write_crt_set_issuer_key(draft.get(), issuer_key.get());
  Describe(draft, key, DistinguishedName(common_name), validity);
  Require(mbedtls_x509write_crt_set_issuer_name(draft.get(), SubjectOf(*issuer.get()).c_str()),
          "set issuer");
  Require(mbedtls_x509write_crt_set_basic_constraints(draft.get(), 0, -1), "set constraints");
  Require(mbedtls_x509write_crt_set_key_usage(draft.get(), MBEDTLS_X509_KU_DIGITAL_SIGNATURE),
          "set key usage");
  AllowServerAuthentication(draft);
  Require(mbedtls_x509write_crt_set_subject_alternative_name(draft.get(), names.list()),
          "set names");
  return {CertificatePem(draft) + authority.certificate_pem, KeyPem(key)};
}

CertificateInfo Inspect(std::string_view certificate_pem) {
  Certificate certificate;
  ReadCertificates(certificate, certificate_pem);
  CertificateInfo info;
  info.subject = SubjectOf(*certificate.get());
  info.issuer = NameText(certificate->issuer, "read issuer");
  info.public_key_pin = PinOf(certificate->pk);
  info.fingerprint_sha256 = Fingerprint(certificate->raw);
  info.validity = {ToUtcMs(certificate->valid_from), ToUtcMs(certificate->valid_to)};
  for (const mbedtls_x509_sequence* name = &certificate->subject_alt_names;
       name != nullptr && name->buf.p != nullptr; name = name->next) {
    ReadName(info, name->buf);
  }
  info.permitted = ReadPermitted(*certificate.get());
  return info;
}

std::vector<std::string> SplitChain(std::string_view chain_pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  std::vector<std::string> certificates;
  size_t at = chain_pem.find(kBegin);
  while (at != chain_pem.npos) {
    const size_t next = chain_pem.find(kBegin, at + kBegin.size());
    certificates.emplace_back(chain_pem.substr(at, next == chain_pem.npos ? next : next - at));
    at = next;
  }
  return certificates;
}

std::string DerBase64(std::string_view certificate_pem) {
  Certificate certificate;
  ReadCertificates(certificate, certificate_pem);
  return Base64({certificate->raw.p, certificate->raw.len});
}

bool IsSignedBy(std::string_view certificate_pem, std::string_view authority_pem) {
  try {
    Certificate certificate;
    ReadCertificates(certificate, certificate_pem);
    Certificate authority;
    ReadCertificates(authority, authority_pem);
    std::array<unsigned char, 32> digest{};
    const auto* const md = mbedtls_md_info_from_type(certificate->MBEDTLS_PRIVATE(sig_md));
    if (md == nullptr || mbedtls_md_get_size(md) != digest.size()) return false;
    Require(mbedtls_md(md, certificate->tbs.p, certificate->tbs.len, digest.data()), "hash");
    return mbedtls_pk_verify(&authority->pk, certificate->MBEDTLS_PRIVATE(sig_md), digest.data(),
                             digest.size(), certificate->MBEDTLS_PRIVATE(sig).p,
                             certificate->MBEDTLS_PRIVATE(sig).len) == 0;
  } catch (const Refusal&) {
    return false;
  }
}

std::string Mismatch(std::string_view certificate_pem, std::string_view key_pem) {
  Certificate certificate;
  ReadCertificates(certificate, certificate_pem);
  Key key;
  if (const std::string wrong = ReadKey(key, key_pem); !wrong.empty()) return wrong;
  if (mbedtls_pk_check_pair(&certificate->pk, key.get(), Random, nullptr) != 0) {
    return "the private key does not belong to the certificate";
  }
  return {};
}

}  // namespace comanda::crypto
