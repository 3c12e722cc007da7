#pragma once

// Brings records of the cloud's orders into the database (cloud/orders/record_merge.h), in
// transactions of bounded size. A record that has not changed since it was taken is not taken
// again: a hash of each is kept in memory, bounded. One that cannot be stored does not keep the
// others from it. What cannot be read is logged once, and recorded as a difference.

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cloud/link/link.h"
#include "json/reader.h"

namespace comanda::cloud {

struct OrdersReaderSettings;

// A list may show less of an order than the order alone does.
enum class Shown : uint8_t { kInList, kAlone };

// Used by the worker's thread alone.
class RecordBatches {
 public:
  // They outlive it.
  explicit RecordBatches(const OrdersReaderSettings& settings) : settings_(settings) {}

  // Takes the records that have changed, which it returns. `cursor` of the cloud's events is stored
  // with the last of them. Throws what the database throws.
  std::vector<json::Value> Take(const Linked& linked, std::span<const json::Value> records,
                                Shown shown, const std::optional<std::string>& cursor);
  // Nothing of the present version of that order is here: a difference says so.
  void NoteUnreadable(const Linked& linked, const std::string& cloud_id, const std::string& why);
  // Logs it once.
  void Report(std::string_view what, std::string_view which, std::string_view why);
  // Takes every record again, and logs again.
  void Forget();

 private:
  struct Change {
    json::Value record;
    std::string cloud_id;
    uint64_t key = 0;  // of taken_
    uint64_t hash = 0;
    std::vector<std::string> numbers;  // candidates for a public id
  };

  std::vector<Change> ChangesOf(std::span<const json::Value> records, Shown shown);
  static bool IsOneAlone(std::span<const Change> changes,
                         const std::optional<std::string>& cursor) {
    return changes.size() == 1 && !cursor;
  }
  void TakeSome(const Linked& linked, std::span<const Change> changes,
                const std::optional<std::string>& cursor);
  std::string WhyUnreadable(const Linked& linked, json::Value record);

  const OrdersReaderSettings& settings_;
  std::unordered_map<uint64_t, uint64_t> taken_;  // hash of id and Shown -> of the record
  std::set<std::string> reported_;
};

}  // namespace comanda::cloud
