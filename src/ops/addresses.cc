#include "ops/addresses.h"

#include <string_view>

#include "base/address.h"
#include "base/file.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/text.h"

namespace comanda::ops {
namespace {

std::string PathIn(const std::string& data_directory) { return data_directory + "/addresses"; }

std::string Joined(const std::set<std::string>& addresses) {
  std::string text;
  for (const std::string& one : addresses) text += (text.empty() ? "" : " ") + one;
  return text;
}

std::set<std::string> Split(std::string_view line) {
  std::set<std::string> addresses;
  while (!line.empty()) {
    const std::string_view word = TakePiece(line, ' ');
    if (ParseAddress(word)) addresses.emplace(word);
  }
  return addresses;
}

}  // namespace

std::set<std::string> RecordedAddresses(const std::set<std::string>& all) {
  std::set<std::string> recorded;
  for (const std::string& one : all) {
    const bool is_ipv4 = one.find(':') == std::string::npos;
    if (is_ipv4 && !one.starts_with("127.") && !one.starts_with("169.254.")) recorded.insert(one);
  }
  return recorded;
}

std::optional<AddressRecord> ReadAddressRecord(const std::string& data_directory) {
  try {
    const auto text = ReadFile(PathIn(data_directory));
    if (!text) return std::nullopt;
    std::string_view rest = *text;
    AddressRecord record;
    record.addresses = Split(TakePiece(rest, '\n'));
    record.former = Split(TakePiece(rest, '\n'));
    record.changed_at = ParseInstant(TakePiece(rest, '\n')).value_or(0);
    if (record.addresses.empty()) return std::nullopt;
    return record;
  } catch (const Fault&) {
    return std::nullopt;
  }
}

std::optional<AddressRecord> NextRecord(const std::optional<AddressRecord>& record,
                                        const std::set<std::string>& all, UtcMs now) {
  std::set<std::string> addresses = RecordedAddresses(all);
  if (addresses.empty()) return std::nullopt;
  if (!record) return AddressRecord{.addresses = std::move(addresses)};
  if (record->addresses == addresses) return std::nullopt;
  return AddressRecord{
      .addresses = std::move(addresses), .former = record->addresses, .changed_at = now};
}

void FollowAddresses(const std::string& data_directory, const std::set<std::string>& all,
                     UtcMs now) {
  const auto next = NextRecord(ReadAddressRecord(data_directory), all, now);
  if (!next) return;
  if (!next->former.empty()) {
    log::Warning("the machine has another address",
                 {{"from", Joined(next->former)},
                  {"to", Joined(next->addresses)},
                  {"meaning",
                   "devices that use the old address must be given the new one; reserve "
                   "an address for the box in the router (a fixed lease), or use its "
                   "name"}});
  }
  std::string text = Joined(next->addresses) + "\n" + Joined(next->former) + "\n";
  if (next->changed_at > 0) text += FormatInstant(next->changed_at) + "\n";
  ReplaceFile(PathIn(data_directory), text, 0600);
}

}  // namespace comanda::ops
