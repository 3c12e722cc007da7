#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace comanda::db {

// The small integer that stands for a company inside one database file. Its own type, so that it is
// never taken for another number. Outside the file a company is named by its UUID: a text, and
// always called company_uuid.
struct CompanyId {
  int64_t value = 0;  // 0: none
  constexpr auto operator<=>(const CompanyId&) const = default;
};

}  // namespace comanda::db

template <>
struct std::hash<comanda::db::CompanyId> {
  size_t operator()(comanda::db::CompanyId company) const noexcept {
    return std::hash<int64_t>()(company.value);
  }
};
