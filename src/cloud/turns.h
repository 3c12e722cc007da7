#pragma once

// Whose request goes to the cloud next (contract section 15.8): orders that are being served go
// before the backlog, which has at least a quarter of the requests; orders that are late are tried
// when they are due. One thread.

#include <cstdint>
#include <optional>
#include <string>

#include "base/time/clock.h"
#include "cloud/orders/journal.h"
#include "db/database.h"
#include "outbox/lane.h"
#include "outbox/late.h"

namespace comanda::cloud {

// An order is late until it has failed for a day.
extern const outbox::Patience kLatePatience;

class Turns {
 public:
  // All outlive it.
  Turns(db::Database& database, const Clock& clock, const outbox::Lane& lane,
        const outbox::LateMessages& late)
      : database_(database), clock_(clock), lane_(lane), late_(late) {}

  // An order that is being served and has something to send. The first of the backlog where that
  // is due its share.
  std::optional<std::string> NextPresent(db::CompanyId company) const;
  // Any order that has something to send; the empty id: a change of the menu.
  std::optional<std::string> NextOfAll(db::CompanyId company) const {
    return NextAmong(company, Among::kAll);
  }

  // A request that is none of the backlog is made.
  void CountOther() { ++others_since_backlog_; }
  // A request is made of what NextPresent() or NextOfAll() named.
  void CountOrder(bool is_present);

 private:
  std::optional<std::string> NextAmong(db::CompanyId company, Among among) const;

  db::Database& database_;
  const Clock& clock_;
  const outbox::Lane& lane_;
  const outbox::LateMessages& late_;
  int64_t others_since_backlog_ = 0;
};

}  // namespace comanda::cloud
