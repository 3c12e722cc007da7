#pragma once

// The table of scopes (specification, Authentication 4; contract section 3). A scope permits a key
// to use a group of endpoints; keys, routes and documentation refer to this table.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace comanda::auth {

// The index of the scope in kScopes, and its bit in a ScopeSet.
enum class Scope : uint8_t {
  kMenuRead,
  kMenuWrite,
  kOrdersRead,
  kOrdersWrite,
  kLogisticsWrite,
  kClientsRead,
  kReportsRead,
  kWebhooksRead,
  kWebhooksWrite,
  kCompaniesRead,
  kPaymentMethodsRead,
  kUsersRead,
  kStoresRead,
  kApiKeysRead,
  kApiKeysWrite,
  kOrdersSync,
  kKitchenRead,
  kKitchenWrite,
  kPrintersRead,
  kPrintersWrite,
  kAdminRead,
  kAdminWrite,
};

// One row: the name in JSON, and what the scope permits, for the documentation.
struct ScopeRow {
  Scope scope;
  std::string_view name;
  std::string_view permits;
};

inline constexpr std::array kScopes = {
    ScopeRow{Scope::kMenuRead, "menu:read", "read catalog (categories, products, variants)"},
    ScopeRow{Scope::kMenuWrite, "menu:write", "create and update products and variants"},
    ScopeRow{Scope::kOrdersRead, "orders:read", "list and read orders"},
    ScopeRow{Scope::kOrdersWrite, "orders:write",
             "create and edit orders, status, cancel, items, payments, discounts"},
    ScopeRow{Scope::kLogisticsWrite, "logistics:write", "rider assignment and delivery status"},
    ScopeRow{Scope::kClientsRead, "clients:read", "read customer data"},
    ScopeRow{Scope::kReportsRead, "reports:read",
             "read the reports under /v1/reports; those under /v1/orders need orders:read"},
    ScopeRow{Scope::kWebhooksRead, "webhooks:read", "read webhook subscriptions"},
    ScopeRow{Scope::kWebhooksWrite, "webhooks:write",
             "create, update, delete webhook subscriptions"},
    ScopeRow{Scope::kCompaniesRead, "companies:read", "read company information"},
    ScopeRow{Scope::kPaymentMethodsRead, "payment-methods:read", "read company payment methods"},
    ScopeRow{Scope::kUsersRead, "users:read", "list company users"},
    ScopeRow{Scope::kStoresRead, "stores:read", "read food-app store status"},
    ScopeRow{Scope::kApiKeysRead, "api-keys:read", "list API keys"},
    ScopeRow{Scope::kApiKeysWrite, "api-keys:write", "create, change, rotate and revoke API keys"},
    // The key of another box, or of a till that sells offline. Never part of "all".
    ScopeRow{Scope::kOrdersSync, "orders:sync",
             "of boxes and offline tills: date orders by Comanda-Occurred-At; not part of all"},
    // What a wall shows: no price, payment, phone, e-mail or address (contract section 20).
    ScopeRow{Scope::kKitchenRead, "kitchen:read", "read the tickets of the kitchen"},
    ScopeRow{Scope::kKitchenWrite, "kitchen:write", "mark dishes as done or as sold out"},
    ScopeRow{Scope::kPrintersRead, "printers:read", "read printers and prints"},
    ScopeRow{Scope::kPrintersWrite, "printers:write", "set up printers, print again"},
    ScopeRow{Scope::kAdminRead, "admin:read", "read what concerns the box itself"},
    ScopeRow{Scope::kAdminWrite, "admin:write", "set the restaurant up, let devices in"},
};

constexpr std::string_view Name(Scope scope) { return kScopes[static_cast<size_t>(scope)].name; }

consteval bool ScopesStandInOrder() {
  for (size_t i = 0; i < kScopes.size(); ++i) {
    if (kScopes[i].scope != static_cast<Scope>(i)) return false;
  }
  return true;
}
static_assert(ScopesStandInOrder());

// Scopes that manage the box: its keys, devices and settings.
constexpr bool IsManaging(Scope scope) {
  return scope == Scope::kApiKeysRead || scope == Scope::kApiKeysWrite ||
         scope == Scope::kAdminRead || scope == Scope::kAdminWrite;
}

// Scopes that only the local command line grants, or a role that has them (auth/roles.h).
constexpr bool IsLocalOnly(Scope scope) { return IsManaging(scope) || scope == Scope::kOrdersSync; }

// Nothing for an unknown name.
constexpr std::optional<Scope> FindScope(std::string_view name) {
  for (const ScopeRow& row : kScopes) {
    if (row.name == name) return row.scope;
  }
  return std::nullopt;
}

// A set of scopes as a bit mask.
class ScopeSet {
 public:
  constexpr ScopeSet() = default;
  static constexpr ScopeSet All() { return ScopeSet((1u << kScopes.size()) - 1); }
  // The inverse of bits().
  static constexpr ScopeSet FromBits(uint32_t bits) { return ScopeSet(bits); }
  constexpr void Add(Scope scope) { bits_ |= Bit(scope); }
  constexpr bool Has(Scope scope) const { return (bits_ & Bit(scope)) != 0; }
  // True if `other` is a subset.
  constexpr bool Contains(ScopeSet other) const { return (other.bits_ & ~bits_) == 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint32_t bits() const { return bits_; }

 private:
  constexpr explicit ScopeSet(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t Bit(Scope scope) { return 1u << static_cast<unsigned>(scope); }
  uint32_t bits_ = 0;
};

}  // namespace comanda::auth
