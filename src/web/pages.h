#pragma once

// Pages for people: / says what this box is, /setup how a device learns to trust it, /problems what
// its errors mean, in three languages. Pure functions of what is known about the box; all texts are
// escaped. Any thread. No script, no other file.

#include <optional>
#include <string>
#include <string_view>

#include "http/response.h"

namespace comanda::web {

struct HtmlPage {
  std::string body;
  // The Content-Security-Policy that permits the page's own style alone.
  std::string policy;
};

enum class Language { kEnglish, kSpanish, kPortuguese };

// That one of the three which is in the language.
template <typename Texts>
const Texts& InLanguage(Language language, const Texts& english, const Texts& spanish,
                        const Texts& portuguese) {
  switch (language) {
    case Language::kEnglish:
      break;
    case Language::kSpanish:
      return spanish;
    case Language::kPortuguese:
      return portuguese;
  }
  return english;
}

// The first that a header Accept-Language names and that the pages have; else English.
Language LanguageOf(std::string_view accept_language);
std::string_view TagOf(Language language);  // "en", "es", "pt" (RFC 5646)

struct Home {
  std::string name;  // of the machine
  bool is_well = true;
  bool is_live = true;  // else the sandbox
  std::string version;
};
HtmlPage HomePage(const Home& home, Language language);

// The authority that devices install.
struct TrustFacts {
  std::string fingerprint_sha256;  // "AB:CD:…"
  std::string words;               // the same, spoken (base/spoken_words.h)
  std::string pin;
  std::string qr_svg;
};
struct Setup {
  std::string name;
  std::string address;              // "https://192.168.1.50:8443"
  std::string local_name;           // "https://NAME.local:8443"
  std::optional<TrustFacts> trust;  // nothing: the owner's certificate is served
};
HtmlPage SetupPage(const Setup& setup, Language language);

// A page of one text, as those of problems. `inside` is HTML, of which the caller has escaped what
// comes from elsewhere.
HtmlPage TextPage(Language language, std::string_view title, std::string inside);

// The answer with a page that was chosen by Accept-Language.
http::Response PageAnswer(HtmlPage page);

// A configuration profile of Apple devices that installs the authority. `certificate_base64`: its
// DER form. The identifiers are derived from its fingerprint, so that installing it again replaces
// it.
std::string AppleProfile(std::string_view name, std::string_view certificate_base64,
                         std::string_view fingerprint_sha256);

}  // namespace comanda::web
