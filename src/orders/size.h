#pragma once

// Limits the size of an order's record (contract section 1, Caps of an order). A list has 20
// records by default, and an answer at most 16 MiB (http/page_rows.h): records of at most 800 KiB
// always fit.
//
// - Lines, discounts and the texts of a PATCH are refused if the record would exceed 512 KiB.
// - Payments may exceed that: 100 of them, with texts of one-byte characters, add at most 160 KiB.
//   A payment with texts is refused if the record would exceed 720 KiB, which takes 100 long texts
//   of four-byte characters. A payment without texts is never refused.
// - Status changes, riders and cancels add a few kilobytes and are never refused.
//
// The records of older programs may be larger. Such orders can be read, paid, moved and cancelled,
// but not extended.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "orders/order.h"

namespace comanda::orders {

inline constexpr size_t kRecordBytesMax = 512 * 1024;
inline constexpr size_t kPaidRecordBytesMax = 720 * 1024;

// The kind of data that a change adds to the record.
enum class Adds : uint8_t { kLittle, kCombos, kDiscount, kPayment, kTexts };

// Refusal validation_failed if the record of `after` is too large: too_many_items for the list, or
// too_long for the texts, that the change has extended.
void RequireSize(const Order& before, const Order& after, std::string_view record, Adds adds);
// The same for an order with all its rows: at most 512 KiB. `added_bytes`: the parts that are not
// in the record yet.
void RequireSizeOfWhole(std::string_view record, size_t added_bytes = 0);

// Refusal validation_failed if a list of rows has more than `max` (orders/order.h).
void RequireCap(size_t count, size_t max, std::string_view noun);

}  // namespace comanda::orders
