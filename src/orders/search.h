#pragma once

// filter[search] of GET /v1/orders (contract section 7, Listing): finds an order by its number, its
// public id, its client, or words of its title. It has no index of its own: clients are found by
// the search of clients, and titles are read among the orders of some days.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "clients/search.h"
#include "db/session.h"
#include "http/query.h"

namespace comanda::orders {

inline constexpr std::string_view kSearchParameter = "filter[search]";
// Of the clients found, those who ordered last: the orders of at most so many are looked for.
inline constexpr int64_t kSearchedClientsMax = 200;
// A number with fewer digits is no end of a phone number, which very many clients would have.
inline constexpr size_t kPhoneEndMin = 4;
// Without filter[start_date], titles are read from so many milliseconds before the end of the
// period on.
inline constexpr UtcMs kSearchedTitlesMs = UtcMs{30} * 24 * 60 * 60 * 1000;

// An order is found if it has any of these.
struct Search {
  std::optional<int64_t> number;
  std::optional<std::string> id;  // of the order with the public id
  std::vector<std::string> client_ids;
  std::vector<clients::Term> title_words;
};

// A whole number of an order; nothing for other texts.
std::optional<int64_t> FindNumber(std::string_view text);

// Nothing without the parameter. Refusal invalid_parameter for a text without letters and digits.
std::optional<Search> ReadSearch(db::Session& session, db::CompanyId company,
                                 const http::Query& query);

// True if each word begins a word of the title. Pure.
bool HasWords(std::string_view title, const std::vector<clients::Term>& words);

}  // namespace comanda::orders
