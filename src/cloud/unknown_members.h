#pragma once

// The members of an order's record of the cloud that this program does not know. They are kept as
// JSON and shown (orders::Order::unknown_members); numbers keep all their digits. Those of rows are
// kept under `unknown_row_members`, by the id of the row here; those of the rider there, by the
// name `rider`.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cloud/shown_members.h"

namespace comanda::cloud {

inline constexpr std::string_view kRider = "rider";

class UnknownMembers {
 public:
  // `id`: of the row here.
  void KeepOfRider(const ShownMembers& rider);
  void KeepOfCombo(const ShownMembers& combo, std::string_view id);
  void KeepOfModifier(const ShownMembers& modifier, std::string_view id);
  void KeepOfPayment(const ShownMembers& payment, std::string_view id);
  void KeepOfDiscount(const ShownMembers& discount, std::string_view id);
  // With those of the order itself; nothing where all are known.
  std::optional<std::string> All(const ShownMembers& order) const;

 private:
  std::map<std::string, std::string> of_rows_;  // JSON objects, by the id of the row here
};

}  // namespace comanda::cloud
