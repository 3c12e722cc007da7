#include "app/trust_pages.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/problem.h"
#include "base/qr_code.h"
#include "base/spoken_words.h"
#include "base/version.h"
#include "crypto/certificate.h"
#include "crypto/hash.h"
#include "http/context.h"
#include "ops/certificates.h"
#include "ops/local_name.h"
#include "web/pages.h"

namespace comanda::app {
namespace {

constexpr int kQrPixels = 220;
constexpr size_t kWordBytes = 16;

void RequireAuthority(const std::string& authority_pem) {
  if (!authority_pem.empty()) return;
  throw Refusal(Problem::kNotFound,
                "The owner of this box has given it a certificate of their own: there is no "
                "authority of the box to install.");
}

// The port of "https://HOST:PORT" with its colon; empty for the standard one.
std::string PortPart(std::string_view address) {
  const size_t colon = address.rfind(':');
  const bool has_port = colon > address.find("//") && address.find(']', colon) == address.npos;
  return has_port ? std::string(address.substr(colon)) : std::string();
}

web::TrustFacts FactsOf(const std::string& authority_pem, std::string_view address) {
  const crypto::CertificateInfo info = crypto::Inspect(authority_pem);
  web::TrustFacts facts{.fingerprint_sha256 = info.fingerprint_sha256,
                        .words = FingerprintWords(info.fingerprint_sha256),
                        .pin = ops::UrlPin(info),
                        .qr_svg = ""};
  const std::string host(address.substr(address.find("//") + 2));
  const auto code =
      MakeQrCode(Concat({"comanda://trust?h=", host, "&n=", ops::LocalName(), "&p=", facts.pin}));
  if (code) facts.qr_svg = QrCodeSvg(*code, kQrPixels);
  return facts;
}

// The address by which the client calls, which the server has checked to be one of this machine's.
std::string AddressOf(const http::Context& context) {
  return Concat({"https://", context.request().Header("Host").value_or(ops::LocalName())});
}

http::Response GetHome(http::Context& context) {
  context.query().AllowOnly({});
  const std::vector<http::Readiness> checks = context.site().readiness();
  const bool is_well = std::ranges::all_of(checks, &http::Readiness::ok);
  const bool is_live = context.site().mode == auth::Mode::kLive;
  return web::PageAnswer(
      web::HomePage({.name = ops::LocalName(),
                     .is_well = is_well,
                     .is_live = is_live,
                     .version = std::string(kVersion)},
                    web::LanguageOf(context.request().Joined("Accept-Language"))));
}

http::Response GetSetup(http::Context& context) {
  context.query().AllowOnly({});
  return SetupPageAnswer(context.site().authority_pem(), AddressOf(context),
                         context.request().Joined("Accept-Language"));
}

http::Response GetAuthority(http::Context& context) {
  context.query().AllowOnly({});
  return AuthorityAnswer(context.site().authority_pem());
}

http::Response GetAppleProfile(http::Context& context) {
  context.query().AllowOnly({});
  return AppleProfileAnswer(context.site().authority_pem());
}

constexpr std::array kRoutes = {
    http::Open(http::Method::kGet, "/", GetHome),
    http::Open(http::Method::kGet, "/setup", GetSetup),
    http::Open(http::Method::kGet, "/ca.crt", GetAuthority),
    http::Open(http::Method::kGet, "/ca.mobileconfig", GetAppleProfile),
};

}  // namespace

http::Response SetupPageAnswer(const std::string& authority_pem, const std::string& address,
                               std::string_view accept_language) {
  web::Setup setup{.name = ops::LocalName(),
                   .address = address,
                   .local_name = Concat({"https://", ops::LocalName(), PortPart(address)}),
                   .trust = std::nullopt};
  if (!authority_pem.empty()) setup.trust = FactsOf(authority_pem, address);
  return web::PageAnswer(web::SetupPage(setup, web::LanguageOf(accept_language)));
}

http::Response AuthorityAnswer(const std::string& authority_pem) {
  RequireAuthority(authority_pem);
  http::Response response;
  response.content_type = "application/x-x509-ca-cert";
  response.body = authority_pem;
  response.etag = http::BodyTag(response.body);
  return response;
}

http::Response AppleProfileAnswer(const std::string& authority_pem) {
  RequireAuthority(authority_pem);
  const crypto::CertificateInfo info = crypto::Inspect(authority_pem);
  http::Response response;
  response.content_type = "application/x-apple-aspen-config";
  response.body = web::AppleProfile(ops::LocalName(), crypto::DerBase64(authority_pem),
                                    info.fingerprint_sha256);
  response.etag = http::BodyTag(response.body);
  return response;
}

std::span<const http::Route> PageRoutes() { return kRoutes; }

std::string FingerprintWords(std::string_view fingerprint_sha256) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < fingerprint_sha256.size() && bytes.size() < kWordBytes; i += 3) {
    bytes.push_back(
        static_cast<uint8_t>(digit(fingerprint_sha256[i]) * 16 + digit(fingerprint_sha256[i + 1])));
  }
  return SpokenWords(bytes);
}

}  // namespace comanda::app
