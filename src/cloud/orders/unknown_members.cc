#include "cloud/orders/unknown_members.h"

#include <array>
#include <utility>

#include "json/reader.h"
#include "json/writer.h"
#include "orders/order.h"
#include "orders/record.h"

namespace comanda::cloud {
namespace {

using orders::Order;
using Of = UnknownMembers::Of;

constexpr std::string_view kUnknownOfRows = "unknown_row_members";

// The members of an object that are known, with those of the objects among them.
struct Members {
  std::map<std::string, Members, std::less<>> named;
};

Members MembersOf(json::Value object) {
  Members members;
  for (const auto& [name, value] : object.members()) {
    const bool is_object = value.kind() == json::Kind::kObject;
    members.named.emplace(name, is_object ? MembersOf(value) : Members());
  }
  return members;
}

// By Of: the members that the record of an order, its rider and its rows show (orders/record.h),
// and those that rows are read from. Every other one is unknown.
const Members& Known(UnknownMembers::Of of) {
  static const std::array<Members, 6> known = [] {
    Order order;
    order.rider.emplace();
    order.combos.emplace_back().modifiers.emplace_back();
    order.payments.emplace_back();
    order.discounts.emplace_back();
    const json::Document record = json::Document::ParseStored(orders::Render(order));
    const auto first = [](json::Value object, std::string_view list) {
      return object.Find(list)->items().front();
    };
    const json::Value combo = first(record.root(), "combos");
    std::array<Members, 6> members = {MembersOf(record.root()),
                                      MembersOf(*record.root().Find(kRiderMember)),
                                      MembersOf(combo),
                                      MembersOf(first(combo, "modifiers")),
                                      MembersOf(first(record.root(), "payments")),
                                      MembersOf(first(record.root(), "discounts"))};
    // Of its objects, that of the rider is looked at by itself.
    for (auto& [name, inner] : members[static_cast<size_t>(Of::kOrder)].named) inner.named.clear();
    for (const char* name :
         {"payment_method_id", "payment_method_code", "payment_method_description"}) {
      members[static_cast<size_t>(Of::kPayment)].named.try_emplace(name);
    }
    return members;
  }();
  return known[static_cast<size_t>(of)];
}

// The members of an object that are not known, as an object; empty where there are none. Objects
// that are kept whole (client, table, address) have no members that are known one by one.
std::string UnknownIn(json::Value object, const Members& known) {
  if (object.kind() != json::Kind::kObject || known.named.empty()) return "";
  std::string text;
  json::Writer out(text);
  bool has_any = false;
  out.BeginObject();
  for (const auto& [name, value] : object.members()) {
    const auto found = known.named.find(name);
    const std::string unknown =
        found == known.named.end() ? value.Canonical() : UnknownIn(value, found->second);
    if (unknown.empty()) continue;
    out.KeyOf(name).Raw(unknown);
    has_any = true;
  }
  out.EndObject();
  return has_any ? text : "";
}

}  // namespace

void UnknownMembers::Keep(Of of, std::string_view id, const ShownMembers& row) {
  std::string unknown = UnknownIn(row.value(), Known(of));
  if (!unknown.empty()) of_rows_.emplace(id, std::move(unknown));
}

std::optional<std::string> UnknownMembers::All(const ShownMembers& order) const {
  const std::string own = UnknownIn(order.value(), Known(Of::kOrder));
  const bool has_of_rows = !of_rows_.empty() && !order.Any(kUnknownOfRows);
  if (own.empty() && !has_of_rows) return std::nullopt;
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  if (!own.empty()) out.Members(own);
  if (has_of_rows) {
    out.KeyOf(kUnknownOfRows).BeginObject();
    for (const auto& [id, members] : of_rows_) out.KeyOf(id).Raw(members);
    out.EndObject();
  }
  out.EndObject();
  return text;
}

}  // namespace comanda::cloud
