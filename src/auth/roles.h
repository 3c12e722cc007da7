#pragma once

// The table of roles (contract section 3): names for sets of scopes, by which devices are let in. A
// role is granted whole, whether or not the key that grants it has its scopes. The key stores the
// scopes beside the role's name, so that a change of this table changes no key.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "auth/scopes.h"

namespace comanda::auth {

// The index of the role in kRoles.
enum class Role : uint8_t { kKitchen, kTill, kPanel, kPanelShared, kManager };

constexpr ScopeSet ScopesOf(std::initializer_list<Scope> scopes) {
  ScopeSet set;
  for (const Scope scope : scopes) set.Add(scope);
  return set;
}
constexpr ScopeSet AllBut(std::initializer_list<Scope> scopes) {
  return ScopeSet::FromBits(ScopeSet::All().bits() & ~ScopesOf(scopes).bits());
}

struct RoleRow {
  Role role;
  std::string_view name;
  ScopeSet scopes;
  std::optional<int64_t> idle_days;  // of the key: it ends when it was not used for so long
  std::optional<int64_t> life_ms;    // the key ends so long after it was made
  std::string_view page;             // that the device opens; empty: it is no browser
  std::string_view is;               // for the documentation
};

inline constexpr std::array kRoles = {
    RoleRow{Role::kKitchen, "kitchen", ScopesOf({Scope::kKitchenRead, Scope::kKitchenWrite}),
            std::nullopt, std::nullopt, "/kitchen", "a display in the kitchen"},
    RoleRow{
        Role::kTill, "till",
        ScopesOf({Scope::kOrdersRead, Scope::kOrdersWrite, Scope::kOrdersSync,
                  Scope::kLogisticsWrite, Scope::kMenuRead, Scope::kClientsRead, Scope::kUsersRead,
                  Scope::kCompaniesRead, Scope::kPaymentMethodsRead, Scope::kStoresRead,
                  Scope::kKitchenRead, Scope::kKitchenWrite, Scope::kPrintersRead}),
        std::nullopt, std::nullopt, "", "a till"},
    RoleRow{Role::kPanel, "panel", AllBut({Scope::kOrdersSync}), 30, std::nullopt, "/panel",
            "the panel, on a device of the owner; ends when unused for 30 days"},
    RoleRow{Role::kPanelShared, "panel-shared", AllBut({Scope::kOrdersSync}), std::nullopt,
            12LL * 60 * 60 * 1000, "/panel",
            "the panel, on a device of others; ends after 12 hours"},
    RoleRow{Role::kManager, "manager",
            AllBut({Scope::kAdminRead, Scope::kAdminWrite, Scope::kApiKeysRead,
                    Scope::kApiKeysWrite, Scope::kWebhooksWrite, Scope::kOrdersSync}),
            30, std::nullopt, "/panel",
            "the panel without keys, devices and settings; ends when unused for 30 days"},
};

constexpr const RoleRow& RowOf(Role role) { return kRoles[static_cast<size_t>(role)]; }
constexpr std::string_view Name(Role role) { return RowOf(role).name; }

consteval bool RolesStandInOrder() {
  for (size_t i = 0; i < kRoles.size(); ++i) {
    if (kRoles[i].role != static_cast<Role>(i)) return false;
  }
  return true;
}
static_assert(RolesStandInOrder());

// Nothing for an unknown name.
constexpr std::optional<Role> FindRole(std::string_view name) {
  for (const RoleRow& row : kRoles) {
    if (row.name == name) return row.role;
  }
  return std::nullopt;
}

// Whether a key of the role `granting`, or of none, may let a device in with the role `wanted`: a
// panel is let in by a panel alone (and by the command line).
constexpr bool MayGrant(std::optional<Role> granting, Role wanted) {
  const bool is_panel = wanted == Role::kPanel || wanted == Role::kPanelShared;
  return !is_panel || granting == Role::kPanel;
}

// "kitchen, till, …", for messages.
inline std::string RoleList() {
  std::string list;
  for (const RoleRow& row : kRoles) {
    if (!list.empty()) list += ", ";
    list += row.name;
  }
  return list;
}

}  // namespace comanda::auth
