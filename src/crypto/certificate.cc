#include "crypto/certificate.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <span>

#include "base/problem.h"
#include "base/random.h"
#include "crypto/hash.h"

#include "mbedtls/ecp.h"
#include "mbedtls/error.h"
#include "mbedtls/oid.h"
#include "mbedtls/pk.h"
#include "mbedtls/x509_crt.h"

namespace comanda::crypto {
namespace {

constexpr int64_t kDayMs = 86'400'000;
// Ten years.
constexpr int64_t kAuthorityDays = 3652;
constexpr int64_t kServerDays = 397;
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

}  // namespace

Validity AuthorityFrom(UtcMs now) {
  const UtcMs begin = now - kDayMs;
  return {begin, begin + kAuthorityDays * kDayMs};
}

Validity ServerFrom(UtcMs now) {
  const UtcMs begin = now - kDayMs;
  return {begin, begin + kServerDays * kDayMs};
}

KeyPair MakeAuthority(std::string_view common_name, const Validity& validity) {
  Key key;
  GenerateKey(key);
  const std::string name = DistinguishedName(common_name);
  Draft draft;
  mbedtls_x509write_crt_set_issuer_key(draft.get(), key.get());
  Describe(draft, key, name, validity);
  Require(mbedtls_x509write_crt_set_issuer_name(draft.get(), name.c_str()), "set issuer");
  Require(mbedtls_x509write_crt_set_basic_constraints(draft.get(), 1, 0), "set constraints");
  Require(mbedtls_x509write_crt_set_key_usage(
              draft.get(), MBEDTLS_X509_KU_KEY_CERT_SIGN | MBEDTLS_X509_KU_CRL_SIGN),
          "set key usage");
  return {CertificatePem(draft), KeyPem(key)};
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
  return info;
}

std::string SecondOf(std::string_view chain_pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  const size_t first = chain_pem.find(kBegin);
  if (first == chain_pem.npos) return {};
  const size_t second = chain_pem.find(kBegin, first + kBegin.size());
  return second == chain_pem.npos ? std::string() : std::string(chain_pem.substr(second));
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
