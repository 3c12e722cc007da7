#include "web/pages.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "base/text.h"
#include "crypto/hash.h"
#include "http/context.h"
#include "web/embedded.h"

namespace comanda::web {
namespace {

struct Value {
  std::string_view mark;
  std::string html;
};

// The template with every mark replaced. A value is not looked at again.
std::string Filled(std::string_view page, std::initializer_list<Value> values) {
  std::string out;
  while (true) {
    const size_t begin = page.find("{{");
    out += page.substr(0, begin);
    if (begin == page.npos) return out;
    const size_t end = page.find("}}", begin);
    const std::string_view mark = page.substr(begin + 2, end - begin - 2);
    bool is_known = false;
    for (const Value& value : values) {
      if (value.mark != mark) continue;
      out += value.html;
      is_known = true;
    }
    CHECK(is_known, "a page has marks that are filled");
    page.remove_prefix(end + 2);
  }
}

std::string Policy() {
  return "default-src 'none'; img-src data:; style-src 'sha256-" +
         crypto::Base64(crypto::Sha256(PagesCss())) +
         "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

// The mark as an image in the page's own text.
std::string Icon() {
  const std::string_view mark = MarkSvg();
  return "data:image/svg+xml;base64," +
         crypto::Base64({reinterpret_cast<const uint8_t*>(mark.data()), mark.size()});
}

struct Texts {
  std::string_view home, setup, trust, owner;
  std::string_view well, unwell, live, sandbox;
};

const Texts& TextsOf(Language language) {
  static const Texts kEnglish = {HomeEnHtml(),
                                 SetupEnHtml(),
                                 SetupTrustEnHtml(),
                                 SetupOwnerEnHtml(),
                                 "All is well.",
                                 "It is not well: /readyz says what is wrong.",
                                 "the restaurant's own data",
                                 "the sandbox, where nothing counts"};
  static const Texts kSpanish = {HomeEsHtml(),
                                 SetupEsHtml(),
                                 SetupTrustEsHtml(),
                                 SetupOwnerEsHtml(),
                                 "Todo está bien.",
                                 "Algo no está bien: /readyz dice qué.",
                                 "los datos del restaurante",
                                 "el entorno de pruebas, donde nada cuenta"};
  static const Texts kPortuguese = {HomePtHtml(),
                                    SetupPtHtml(),
                                    SetupTrustPtHtml(),
                                    SetupOwnerPtHtml(),
                                    "Tudo está bem.",
                                    "Algo não está bem: /readyz diz o quê.",
                                    "os dados do restaurante",
                                    "o ambiente de testes, onde nada conta"};
  return InLanguage(language, kEnglish, kSpanish, kPortuguese);
}

// A UUID (version 8, RFC 9562) of 32 hexadecimal digits.
std::string UuidOf(std::string hex) {
  hex[12] = '8';
  hex[16] = 'a';
  return Concat({hex.substr(0, 8), "-", hex.substr(8, 4), "-", hex.substr(12, 4), "-",
                 hex.substr(16, 4), "-", hex.substr(20, 12)});
}

}  // namespace

Language LanguageOf(std::string_view accept_language) {
  while (!accept_language.empty()) {
    const size_t end = std::min(accept_language.find(','), accept_language.size());
    std::string_view range = accept_language.substr(0, end);
    accept_language.remove_prefix(std::min(end + 1, accept_language.size()));
    while (range.starts_with(' ')) range.remove_prefix(1);
    const std::string primary = AsciiLower(range.substr(0, range.find_first_of("-; ")));
    if (primary == "en") return Language::kEnglish;
    if (primary == "es") return Language::kSpanish;
    if (primary == "pt") return Language::kPortuguese;
  }
  return Language::kEnglish;
}

std::string_view TagOf(Language language) {
  static constexpr std::string_view kEnglish = "en", kSpanish = "es", kPortuguese = "pt";
  return InLanguage(language, kEnglish, kSpanish, kPortuguese);
}

HtmlPage HomePage(const Home& home, Language language) {
  const Texts& texts = TextsOf(language);
  return {.body = Filled(texts.home,
                         {{"name", HtmlEscaped(home.name)},
                          {"kind", home.is_well ? "well" : "unwell"},
                          {"state", std::string(home.is_well ? texts.well : texts.unwell)},
                          {"version", HtmlEscaped(home.version)},
                          {"environment", std::string(home.is_live ? texts.live : texts.sandbox)},
                          {"mark", std::string(MarkSvg())},
                          {"icon", Icon()},
                          {"style", std::string(PagesCss())}}),
          .policy = Policy()};
}

HtmlPage SetupPage(const Setup& setup, Language language) {
  const Texts& texts = TextsOf(language);
  const std::string address = HtmlEscaped(setup.address);
  std::string trust(texts.owner);
  if (setup.trust) {
    trust = Filled(texts.trust, {{"words", HtmlEscaped(setup.trust->words)},
                                 {"fingerprint", HtmlEscaped(setup.trust->fingerprint_sha256)},
                                 {"pin", HtmlEscaped(setup.trust->pin)},
                                 {"qr", setup.trust->qr_svg},
                                 {"address", address},
                                 {"local_name", HtmlEscaped(setup.local_name)}});
  }
  return {.body = Filled(texts.setup, {{"name", HtmlEscaped(setup.name)},
                                       {"address", address},
                                       {"trust", std::move(trust)},
                                       {"mark", std::string(MarkSvg())},
                                       {"icon", Icon()},
                                       {"style", std::string(PagesCss())}}),
          .policy = Policy()};
}

HtmlPage TextPage(Language language, std::string_view title, std::string inside) {
  return {.body = Filled(TextPageHtml(), {{"language", std::string(TagOf(language))},
                                          {"title", HtmlEscaped(title)},
                                          {"inside", std::move(inside)},
                                          {"mark", std::string(MarkSvg())},
                                          {"icon", Icon()},
                                          {"style", std::string(PagesCss())}}),
          .policy = Policy()};
}

http::Response PageAnswer(HtmlPage page) {
  http::Response response;
  response.content_type = "text/html; charset=utf-8";
  response.etag = http::BodyTag(page.body);
  response.body = std::move(page.body);
  response.headers.emplace_back("Content-Security-Policy", std::move(page.policy));
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Vary", "Accept-Language");
  return response;
}

std::string AppleProfile(std::string_view name, std::string_view certificate_base64,
                         std::string_view fingerprint_sha256) {
  const std::string payload =
      UuidOf(crypto::Sha256Hex(Concat({"certificate ", fingerprint_sha256})));
  const std::string profile = UuidOf(crypto::Sha256Hex(Concat({"profile ", fingerprint_sha256})));
  const std::string title = HtmlEscaped(Concat({"Comanda on ", name}));
  const auto text = [](std::string_view key, std::string_view value) {
    return Concat({"<key>", key, "</key><string>", value, "</string>\n"});
  };
  std::string plist =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
      "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n"
      "<plist version=\"1.0\">\n<dict>\n<key>PayloadContent</key>\n<array>\n<dict>\n";
  plist += text("PayloadType", "com.apple.security.root");
  plist += text("PayloadIdentifier", "comanda." + payload) + text("PayloadUUID", payload);
  plist += text("PayloadDisplayName", title) + text("PayloadCertificateFileName", "ca.crt");
  plist += "<key>PayloadVersion</key><integer>1</integer>\n";
  plist += Concat({"<key>PayloadContent</key><data>", certificate_base64, "</data>\n"});
  plist += "</dict>\n</array>\n" + text("PayloadType", "Configuration");
  plist += text("PayloadIdentifier", "comanda." + profile) + text("PayloadUUID", profile);
  plist += text("PayloadDisplayName", title);
  plist += text("PayloadDescription",
                "Lets this device trust the restaurant's own server. Switch it on afterwards in "
                "Settings, General, About, Certificate Trust Settings.");
  return plist + "<key>PayloadVersion</key><integer>1</integer>\n</dict>\n</plist>\n";
}

}  // namespace comanda::web
