#include "orders/search.h"

#include <algorithm>
#include <charconv>

#include "base/id.h"
#include "clients/clients.h"
#include "clients/list.h"
#include "orders/orders.h"

namespace comanda::orders {

std::optional<int64_t> FindNumber(std::string_view text) {
  constexpr size_t kDigitsMax = 15;
  const bool is_number = !text.empty() && text.size() <= kDigitsMax &&
                         text.find_first_not_of("0123456789") == std::string_view::npos;
  if (!is_number) return std::nullopt;
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<Search> ReadSearch(db::Session& session, db::CompanyId company,
                                 const http::Query& query) {
  const std::optional<std::string_view> text = query.Find(kSearchParameter);
  if (!text) return std::nullopt;
  Search search;
  search.title_words = clients::ReadSearch(query);
  search.number = FindNumber(*text);
  const bool is_public_id = NormalisedKey(*text) && !ParseId(*text);
  if (is_public_id) search.id = FindUuid(session, company, *text);
  const bool is_short_number = search.number && text->size() < kPhoneEndMin;
  if (!is_short_number) {
    search.client_ids = clients::FindIds(session, company, search.title_words, kSearchedClientsMax);
  }
  return search;
}

bool HasWords(std::string_view title, const std::vector<clients::Term>& words) {
  const std::vector<std::string> has = clients::WordsOf(title);
  return std::ranges::all_of(words, [&](const clients::Term& term) {
    return std::ranges::any_of(
        has, [&](const std::string& word) { return word.starts_with(term.word); });
  });
}

}  // namespace comanda::orders
