#pragma once

// The members of an order's record of the cloud that this program does not know. They are kept as
// JSON and shown (orders::Order::unknown_members); numbers keep all their digits. Those of rows are
// kept under `unknown_row_members`, by the id of the local row; those of the rider there, by the
// name `rider`.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cloud/orders/shown_members.h"

namespace comanda::cloud {

inline constexpr std::string_view kRiderMember = "rider";

class UnknownMembers {
 public:
  enum class Of : uint8_t { kOrder, kRider, kCombo, kModifier, kPayment, kDiscount };
  // Those of a row, or of the rider. `id`: of the local row, or kRiderMember.
  void Keep(Of of, std::string_view id, const ShownMembers& row);
  // With those of the order itself; nothing where all are known.
  std::optional<std::string> All(const ShownMembers& order) const;

 private:
  std::map<std::string, std::string> of_rows_;  // JSON objects, by the id of the local row
};

}  // namespace comanda::cloud
