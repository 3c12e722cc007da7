#pragma once

// How large the record of an order may become (contract section 1, Caps of an order). A list shows
// 20 records where nothing else is asked for, and its answer has at most 16 MiB
// (http/page_body.h): records of at most 800 KiB always fit.
//
// - Lines, discounts and the texts of a PATCH may make it 512 KiB.
// - Payments may make an order that has its 512 KiB larger: 100 of them, with texts of the usual
//   letters, add at most 160 KiB. Only a payment whose texts would make it more than 720 KiB (100
//   full texts of four-byte characters would) is refused; one without texts never is.
// - Status changes, riders, cancels and cancels of rows add a few kilobytes and are never refused.
//
// Orders of older programs may be above all that. They are read, paid, moved, cancelled; they
// grow by nothing else.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "orders/order.h"

namespace comanda::orders {

inline constexpr size_t kRecordBytesMax = 512 * 1024;
inline constexpr size_t kPaidRecordBytesMax = 720 * 1024;

// What a change adds to the record.
enum class Adds : uint8_t { kLittle, kCombos, kDiscount, kPayment, kTexts };

// Refusal validation_failed: too_many_items on the list, too_long on the text, that makes the
// record too large. `record` is that of `after`.
void RequireSize(const Order& before, const Order& after, std::string_view record, Adds adds);
// The same of an order that another channel took whole, with its payments: at most 512 KiB.
void RequireSizeOfWhole(std::string_view record);

}  // namespace comanda::orders
