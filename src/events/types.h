#pragma once

// The table of event types (contract section 13). Each type raises one change counter of its
// company (db/change_counters.h), from which the entity tags of lists are made.

#include <array>
#include <cstdint>
#include <string_view>

namespace comanda::events {

enum class Type : uint8_t {
  kOrderCreated,
  kOrderUpdated,
  kOrderDeleted,
  kProductCreated,
  kProductUpdated,
  kStoreStatusChanged,
  kTicketUpdated,
};

// The change counters of a company; the value is the index in db::ChangeCounters::Values. A list's
// entity tag changes with its counter (contract section 6).
enum class Counter : uint8_t { kOrders, kCatalogue, kOther, kKitchen };

struct TypeRow {
  Type type;
  std::string_view name;     // event_type
  std::string_view subject;  // subject.type
  Counter counter;
};

inline constexpr std::array kTypes = {
    TypeRow{Type::kOrderCreated, "ORDER_CREATED", "order", Counter::kOrders},
    TypeRow{Type::kOrderUpdated, "ORDER_UPDATED", "order", Counter::kOrders},
    TypeRow{Type::kOrderDeleted, "ORDER_DELETED", "order", Counter::kOrders},
    TypeRow{Type::kProductCreated, "PRODUCT_CREATED", "product", Counter::kCatalogue},
    TypeRow{Type::kProductUpdated, "PRODUCT_UPDATED", "product", Counter::kCatalogue},
    TypeRow{Type::kStoreStatusChanged, "STORE_STATUS_CHANGED", "store", Counter::kOther},
    TypeRow{Type::kTicketUpdated, "TICKET_UPDATED", "ticket", Counter::kKitchen},
};

constexpr const TypeRow& Row(Type type) { return kTypes[static_cast<size_t>(type)]; }

// The parts of an order that an ORDER_UPDATED changed, and those of a ticket that a TICKET_UPDATED
// changed. `changes[]` lists their names in this order.
enum class Change : uint8_t {
  kStatus,
  kCombos,
  kPayments,
  kDiscounts,
  kRider,
  kDeliveryStatus,
  kFields,
  kPaid,
  kCancelled,
  // Of a ticket.
  kLines,
  kRush,
  kOut,
};

inline constexpr std::array<std::string_view, 12> kChangeNames = {
    "status", "combos", "payments",  "discounts", "rider", "delivery_status",
    "fields", "paid",   "cancelled", "lines",     "rush",  "out"};

// A set of Change.
class Changes {
 public:
  constexpr Changes() = default;
  constexpr void Add(Change change) { bits_ |= 1u << static_cast<unsigned>(change); }
  constexpr bool Has(Change change) const { return (bits_ >> static_cast<unsigned>(change)) & 1u; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint32_t bits() const { return bits_; }
  static constexpr Changes FromBits(uint32_t bits) {
    Changes changes;
    changes.bits_ = bits;
    return changes;
  }

 private:
  uint32_t bits_ = 0;
};

}  // namespace comanda::events
