#include "delivery/orders/words.h"

#include <algorithm>

namespace comanda::delivery {
namespace {

// By Phrase and Language.
constexpr std::array<std::array<std::string_view, 3>, 8> kPhrases = {{
    {"Collect #", "Cobrar #", "Cobrar #"},
    {"Collect # in cash", "Cobrar # en efectivo", "Cobrar # em dinheiro"},
    {"Collect # by card: bring the card machine", "Cobrar # con tarjeta: llevar el POS",
     "Cobrar # no cartão: levar a maquininha"},
    {"Bring change for #", "Llevar vuelto para #", "Levar troco para #"},
    {"Pickup code: #", "Código de recojo: #", "Código de coleta: #"},
    {"Place: #", "Lugar: #", "Local: #"},
    {"Table: #", "Mesa: #", "Mesa: #"},
    {"Not all of the order could be read (#): look in the app",
     "No se pudo leer todo el pedido (#): mirar en la app",
     "Nem tudo do pedido pôde ser lido (#): ver no app"},
}};
static_assert(kPhrases.size() == static_cast<size_t>(Phrase::kUnread) + 1);

constexpr std::array<std::string_view, 18> kSpanishSpeaking = {"AR", "BO", "CL", "CO", "CR", "DO",
                                                               "EC", "ES", "GT", "HN", "MX", "NI",
                                                               "PA", "PE", "PY", "SV", "UY", "VE"};

}  // namespace

Language LanguageOf(const company::Company& company) {
  const std::string_view language = company.language ? std::string_view(*company.language) : "";
  if (language.starts_with("pt")) return Language::kPortuguese;
  if (language.starts_with("es")) return Language::kSpanish;
  if (!language.empty()) return Language::kEnglish;
  if (company.country_code == "BR") return Language::kPortuguese;
  const bool is_spanish = std::ranges::count(kSpanishSpeaking, company.country_code) > 0;
  return is_spanish ? Language::kSpanish : Language::kEnglish;
}

std::string Say(Phrase phrase, Language language, std::string_view about) {
  std::string text(kPhrases[static_cast<size_t>(phrase)][static_cast<size_t>(language)]);
  return text.replace(text.find('#'), 1, about);
}

}  // namespace comanda::delivery
