#include "crypto/certificate.h"

#include <gtest/gtest.h>

#include "base/problem.h"
#include "mbedtls/oid.h"
#include "mbedtls/x509_crt.h"

namespace comanda::crypto {
namespace {

constexpr int64_t kDayMs = 86'400'000;
const UtcMs kNow = SystemClock().Now() / 1000 * 1000;

const Permitted kPermitted = {
    .dns_names = {"localhost", "local"},
    .ranges = {"192.168.0.0/16", "127.0.0.0/8", "fc00::/7", "::1/128", "203.0.113.7"}};

const comanda::crypto::Authority& Made() {
  static const comanda::crypto::Authority made =
      MakeAuthority("Comanda box, \"La Mar\" + Ñ", AuthorityFrom(kNow), kPermitted);
  return made;
}

// What signs, followed by the root.
const KeyPair& Authority() {
  static const KeyPair authority{Made().issuing.certificate_pem + Made().root_pem,
                                 Made().issuing.key_pem};
  return authority;
}

KeyPair Server() {
  return MakeServerCertificate(Authority(), "comanda.local", {"comanda.local", "localhost"},
                               {"192.168.1.20", "fd00::20"}, ServerFrom(kNow));
}

class Parsed {
 public:
  explicit Parsed(const std::string& pem) {
    mbedtls_x509_crt_init(&certificate_);
    EXPECT_EQ(
        mbedtls_x509_crt_parse(&certificate_, reinterpret_cast<const unsigned char*>(pem.c_str()),
                               pem.size() + 1),
        0);
  }
  Parsed(const Parsed&) = delete;
  Parsed& operator=(const Parsed&) = delete;
  ~Parsed() { mbedtls_x509_crt_free(&certificate_); }
  mbedtls_x509_crt* get() { return &certificate_; }

 private:
  mbedtls_x509_crt certificate_;
};

std::string Text(const mbedtls_x509_buf& bytes) {
  return {reinterpret_cast<const char*>(bytes.p), bytes.len};
}

// What a client that trusts the authority finds wrong when it asks for that name; 0 is nothing.
uint32_t Verified(const std::string& chain_pem, const std::string& authority_pem,
                  const char* name) {
  Parsed chain(chain_pem);
  Parsed authority(authority_pem);
  uint32_t flags = 0;
  mbedtls_x509_crt_verify(chain.get(), authority.get(), nullptr, name, &flags, nullptr, nullptr);
  return flags;
}

TEST(Certificate, IsTrustedForItsNamesAndAddresses) {
  const KeyPair server = Server();

  for (const char* name : {"comanda.local", "localhost", "192.168.1.20", "fd00::20"}) {
    EXPECT_EQ(Verified(server.certificate_pem, Made().root_pem, name), 0U) << name;
  }
}

TEST(Certificate, IsNotTrustedForOthers) {
  const KeyPair server = Server();
  const auto stranger =
      MakeAuthority("Comanda box, \"La Mar\" + Ñ", AuthorityFrom(kNow), kPermitted);

  EXPECT_NE(Verified(server.certificate_pem, Made().root_pem, "example.com") &
                MBEDTLS_X509_BADCERT_CN_MISMATCH,
            0U);
  EXPECT_NE(Verified(server.certificate_pem, stranger.root_pem, "localhost"), 0U);
}

TEST(Certificate, IsForServersAlone) {
  Parsed server(Server().certificate_pem);

  EXPECT_EQ(mbedtls_x509_crt_check_extended_key_usage(server.get(), MBEDTLS_OID_SERVER_AUTH,
                                                      MBEDTLS_OID_SIZE(MBEDTLS_OID_SERVER_AUTH)),
            0);
  EXPECT_NE(mbedtls_x509_crt_check_extended_key_usage(server.get(), MBEDTLS_OID_CLIENT_AUTH,
                                                      MBEDTLS_OID_SIZE(MBEDTLS_OID_CLIENT_AUTH)),
            0);
  EXPECT_EQ(mbedtls_x509_crt_check_key_usage(server.get(), MBEDTLS_X509_KU_DIGITAL_SIGNATURE), 0);
  EXPECT_NE(mbedtls_x509_crt_check_key_usage(server.get(), MBEDTLS_X509_KU_KEY_CERT_SIGN), 0);
  EXPECT_EQ(server.get()->version, 3);
  EXPECT_EQ(server.get()->serial.len, 16U);
}

TEST(Certificate, ComesWithItsAuthority) {
  Parsed chain(Server().certificate_pem);

  ASSERT_NE(chain.get()->next, nullptr);
  ASSERT_NE(chain.get()->next->next, nullptr);
  EXPECT_EQ(chain.get()->next->next->next, nullptr);
  EXPECT_EQ(mbedtls_x509_crt_check_key_usage(chain.get()->next, MBEDTLS_X509_KU_KEY_CERT_SIGN), 0);
  EXPECT_EQ(Text(chain.get()->authority_key_id.keyIdentifier),
            Text(chain.get()->next->subject_key_id));
  EXPECT_EQ(chain.get()->subject_key_id.len, 20U);
}

TEST(Certificate, ShowsWhatItWasMadeFrom) {
  const CertificateInfo info = Inspect(Server().certificate_pem);

  EXPECT_EQ(info.subject, "CN=comanda.local");
  EXPECT_EQ(info.issuer, Inspect(Authority().certificate_pem).subject);
  EXPECT_TRUE(info.public_key_pin.starts_with("sha256//"));
  EXPECT_EQ(info.public_key_pin.size(), 52U);
  EXPECT_NE(info.public_key_pin, Inspect(Authority().certificate_pem).public_key_pin);
  EXPECT_EQ(info.dns_names, (std::vector<std::string>{"comanda.local", "localhost"}));
  EXPECT_EQ(info.addresses, (std::vector<std::string>{"192.168.1.20", "fd00::20"}));
  EXPECT_EQ(info.validity.not_before, kNow - kDayMs);
  EXPECT_EQ(info.validity.not_after, kNow + 89 * kDayMs);
  EXPECT_EQ(info.fingerprint_sha256.size(), 95U);
  EXPECT_EQ(info.fingerprint_sha256[2], ':');
}

TEST(Certificate, OfTheRootLastsTwentyYearsAndHasNoConstraints) {
  const CertificateInfo info = Inspect(Made().root_pem);

  EXPECT_EQ(info.validity.not_before, kNow - kDayMs);
  EXPECT_EQ(info.validity.not_after, kNow + (3651 + 3652) * kDayMs);
  EXPECT_EQ(info.issuer, info.subject);
  EXPECT_FALSE(info.permitted);
  EXPECT_TRUE(IsSignedBy(Made().root_pem, Made().root_pem));
}

TEST(Certificate, OfTheAuthorityIsSignedByTheRootAndConstrained) {
  const std::string& issuing = Made().issuing.certificate_pem;
  const std::optional<Permitted> permitted = Inspect(issuing).permitted;

  EXPECT_TRUE(IsSignedBy(issuing, Made().root_pem));
  EXPECT_FALSE(IsSignedBy(issuing, issuing));
  EXPECT_FALSE(IsSignedBy(Made().root_pem, issuing));
  EXPECT_FALSE(IsSignedBy("", issuing));
  ASSERT_TRUE(permitted);
  EXPECT_EQ(permitted->dns_names, kPermitted.dns_names);
  EXPECT_EQ(permitted->ranges, (std::vector<std::string>{"192.168.0.0/16", "127.0.0.0/8",
                                                         "fc00::/7", "::1/128", "203.0.113.7/32"}));
  const std::vector<std::string> chain = SplitChain(Server().certificate_pem);
  ASSERT_EQ(chain.size(), 3U);
  EXPECT_EQ(chain[1], issuing);
  EXPECT_EQ(chain[2], Made().root_pem);
}

TEST(Certificate, ConstraintsAllowANameAndAllBelowIt) {
  for (const char* name : {"localhost", "caja.local", "a.b.local", "local"}) {
    EXPECT_TRUE(kPermitted.AllowsName(name)) << name;
  }
  for (const char* name : {"", "caja", "notlocal", "local.example", "example.com", "mylocalhost"}) {
    EXPECT_FALSE(kPermitted.AllowsName(name)) << name;
  }
  for (const char* address : {"192.168.1.5", "127.0.0.1", "fd00::5", "::1", "203.0.113.7"}) {
    EXPECT_TRUE(kPermitted.AllowsAddress(address)) << address;
  }
  for (const char* address : {"192.169.0.1", "8.8.8.8", "2001:db8::1", "::ffff:192.168.1.5", "x"}) {
    EXPECT_FALSE(kPermitted.AllowsAddress(address)) << address;
  }
}

TEST(Certificate, OfTheAuthorityLastsTenYears) {
  const CertificateInfo info = Inspect(Authority().certificate_pem);

  EXPECT_EQ(info.validity.not_before, kNow - kDayMs);
  EXPECT_EQ(info.validity.not_after, kNow + 3651 * kDayMs);
  EXPECT_TRUE(info.dns_names.empty());
}

TEST(Certificate, CrossesTheYear2050) {
  const UtcMs now = ParseInstant("2049-06-01T12:00:00Z").value();
  const auto authority = MakeAuthority("later", AuthorityFrom(now), kPermitted);

  EXPECT_EQ(Inspect(authority.issuing.certificate_pem).validity.not_after, now + 3651 * kDayMs);
}

TEST(Certificate, KnowsItsKey) {
  const KeyPair server = Server();

  EXPECT_EQ(Mismatch(server.certificate_pem, server.key_pem), "");
  EXPECT_EQ(Mismatch(server.certificate_pem, Authority().key_pem),
            "the private key does not belong to the certificate");
  EXPECT_NE(Mismatch(server.certificate_pem, "nonsense"), "");
}

TEST(Certificate, RefusesWhatItCannotRead) {
  EXPECT_THROW(Inspect(""), Refusal);
  EXPECT_THROW(Inspect("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), Refusal);
  EXPECT_THROW(Inspect(Authority().key_pem), Refusal);
  EXPECT_THROW(MakeServerCertificate(Authority(), "a", {}, {}, ServerFrom(kNow)), Refusal);
  EXPECT_THROW(MakeServerCertificate(Authority(), "a", {}, {"300.1.1.1"}, ServerFrom(kNow)),
               Refusal);
  EXPECT_THROW(MakeServerCertificate({Authority().certificate_pem, Server().key_pem}, "a", {"a"},
                                     {}, ServerFrom(kNow)),
               Refusal);
}

}  // namespace
}  // namespace comanda::crypto
