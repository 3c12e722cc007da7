#include "app/drill.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/time/clock.h"
#include "clients/clients.h"
#include "events/check.h"
#include "keys/keys.h"
#include "menu/menu.h"
#include "orders/check.h"

namespace comanda::app {
namespace {

// The orders of one database, the newest first, read in pages.
class Orders {
 public:
  Orders(db::Session& session, db::CompanyId company) : session_(session), company_(company) {}

  // Null behind the last one.
  const orders::OrderSum* Current() {
    constexpr int64_t kPage = 1000;
    if (at_ < page_.size()) return &page_[at_];
    if (at_end_) return nullptr;
    page_ = orders::SumsBefore(session_, company_, position_, kPage);
    at_ = 0;
    at_end_ = static_cast<int64_t>(page_.size()) < kPage;
    if (page_.empty()) return nullptr;
    position_ = page_.back().key;
    return page_.data();
  }
  void Next() { ++at_; }

 private:
  db::Session& session_;
  const db::CompanyId company_;
  orders::OrderKey position_;
  std::vector<orders::OrderSum> page_;
  size_t at_ = 0;
  bool at_end_ = false;
};

bool IsNewer(const orders::OrderSum& one, const orders::OrderSum& other) {
  return std::pair(one.key.created_at, one.key.id) > std::pair(other.key.created_at, other.key.id);
}

std::string MonthOf(const orders::OrderSum& order) {
  return FormatInstant(order.key.created_at).substr(0, 7);
}

int64_t LastSeq(db::Session& session, db::CompanyId company) {
  int64_t last = 0;
  Orders orders(session, company);
  for (; const orders::OrderSum* order = orders.Current(); orders.Next()) {
    last = std::max(last, order->created_seq);
  }
  return last;
}

void CompareOrder(const orders::OrderSum& backed_up, const orders::OrderSum& present,
                  MonthCompared& month) {
  if (present.version > backed_up.version) {
    ++month.changed;
  } else if (present.version < backed_up.version || present.total != backed_up.total ||
             present.total_paid != backed_up.total_paid) {
    ++month.differing;
  }
}

// Goes through both in the same order.
void CompareOrders(db::Session& backup, db::Session& data, db::CompanyId company,
                   Comparison& result) {
  const int64_t last_seq = LastSeq(backup, company);
  Orders ours(backup, company);
  Orders theirs(data, company);
  while (true) {
    const orders::OrderSum* backed_up = ours.Current();
    const orders::OrderSum* present = theirs.Current();
    if (backed_up == nullptr && present == nullptr) return;
    if (backed_up == nullptr || (present != nullptr && IsNewer(*present, *backed_up))) {
      if (present->created_seq > last_seq) {
        ++result.orders_since;
      } else {
        ++result.months[MonthOf(*present)].not_in_backup;
      }
      theirs.Next();
      continue;
    }
    MonthCompared& month = result.months[MonthOf(*backed_up)];
    ++month.orders;
    month.total += backed_up->total;
    month.total_paid += backed_up->total_paid;
    if (present == nullptr || IsNewer(*backed_up, *present)) {
      ++month.not_in_data;
    } else {
      CompareOrder(*backed_up, *present, month);
      theirs.Next();
    }
    ours.Next();
  }
}

using CountUpTo = db::RowCount (*)(db::Session& session, db::CompanyId company, int64_t last);

void CompareKind(db::Session& backup, db::Session& data, db::CompanyId company,
                 CountUpTo count_up_to, KindCompared& kind) {
  const db::RowCount all = count_up_to(backup, company, std::numeric_limits<int64_t>::max());
  kind.in_backup += all.rows;
  if (all.rows > 0) kind.in_data += count_up_to(data, company, all.last).rows;
}

std::string Row(const std::array<std::string, 5>& cells) {
  std::array<char, 160> line;
  std::snprintf(line.data(), line.size(), "%-10s %9s %16s %16s  %s", cells[0].c_str(),
                cells[1].c_str(), cells[2].c_str(), cells[3].c_str(), cells[4].c_str());
  std::string text = line.data();
  return text + "\n";
}

std::string Findings(const MonthCompared& month) {
  std::string text;
  const auto add = [&](int64_t count, const char* what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  add(month.differing, "DIFFER");
  add(month.not_in_backup, "NOT IN THE BACKUP");
  add(month.not_in_data, "NOT IN THE DATA");
  add(month.changed, "changed since");
  return text.empty() ? "same" : text;
}

}  // namespace

bool Comparison::IsGood() const {
  return std::ranges::all_of(months,
                             [](const auto& entry) {
                               const MonthCompared& month = entry.second;
                               return month.differing + month.not_in_backup + month.not_in_data ==
                                      0;
                             }) &&
         std::ranges::all_of(kinds, [](const auto& entry) {
           return entry.second.in_backup >= entry.second.in_data;
         });
}

void Compare(db::Session& backup, db::Session& data, Comparison& result) {
  for (const db::CompanyId company : events::CompaniesWithEvents(backup)) {
    CompareOrders(backup, data, company, result);
    CompareKind(backup, data, company, menu::CountUpTo, result.kinds["products"]);
    CompareKind(backup, data, company, clients::CountUpTo, result.kinds["clients"]);
    CompareKind(backup, data, company, keys::CountUpTo, result.kinds["keys"]);
  }
}

std::string Describe(const Comparison& comparison) {
  std::string text = Row({"month", "orders", "total, minor", "paid, minor", "compared"});
  for (const auto& [name, month] : comparison.months) {
    text += Row({name, std::to_string(month.orders), std::to_string(month.total),
                 std::to_string(month.total_paid), Findings(month)});
  }
  for (const auto& [name, kind] : comparison.kinds) {
    const int64_t missing = kind.in_data - kind.in_backup;
    text += Row({name, std::to_string(kind.in_backup), "", "",
                 missing > 0   ? std::to_string(missing) + " NOT IN THE BACKUP"
                 : missing < 0 ? std::to_string(-missing) + " removed since"
                               : "same"});
  }
  return text +
         Counted(comparison.orders_since, "order was placed since\n", "orders were placed since\n");
}

}  // namespace comanda::app
