#pragma once

// Generic operations on the rows of the menu, based on Row::Fields() (menu/product.h): a tuple of
// pointers to the members that are stored as columns. Compile-time; any thread.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "menu/product.h"

namespace comanda::menu {

// Calls visit(member pointer, bit) for each field. The bits are those of Sent::fields.
template <typename Row, typename Visit>
constexpr void ForEachField(Visit visit) {
  std::apply(
      [&](auto... fields) {
        uint32_t bit = 1;
        ((visit(fields, bit), bit <<= 1), ...);
      },
      Row::Fields());
}

// The bit of one field, e.g. BitOf(&Variant::sku).
template <typename Row, typename T>
constexpr uint32_t BitOf(T Row::*wanted) {
  uint32_t found = 0;
  ForEachField<Row>([&](auto field, uint32_t bit) {
    if constexpr (std::is_same_v<decltype(field), T Row::*>) {
      if (field == wanted) found = bit;
    }
  });
  return found;
}

// True if the client sent the field.
template <typename Row, typename T>
bool IsSent(const Row& row, T Row::*field) {
  return (row.sent.fields & BitOf(field)) != 0;
}

// Copies the fields whose bits are in `mask`.
template <typename Row>
void CopyFields(const Row& from, uint32_t mask, Row& to) {
  ForEachField<Row>([&](auto field, uint32_t bit) {
    if (mask & bit) to.*field = from.*field;
  });
}

// True if all fields are equal; ids and nested rows are not compared.
template <typename Row>
bool SameFields(const Row& a, const Row& b) {
  bool same = true;
  ForEachField<Row>([&](auto field, uint32_t) { same = same && a.*field == b.*field; });
  return same;
}

// The row with this id, or null.
template <typename Row>
const Row* FindById(const std::vector<Row>& rows, std::string_view id) {
  const auto found = std::ranges::find(rows, id, &Row::id);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace comanda::menu
