#pragma once

// Sends one step of the journal, and does what follows from the answer (contract sections 15.1 and
// 15.2; cloud/orders/refusal.h). An accepted step leaves the journal in one transaction with what
// its answer tells: the cloud's ids of the order and of new rows, and what the cloud has changed.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aliases/aliases.h"
#include "cloud/link/client.h"
#include "cloud/orders/journal_store.h"
#include "cloud/orders/pending.h"
#include "db/database.h"

namespace comanda::cloud {

struct SenderSettings {
  db::Database& database;
  const Clock& clock;
  SendRules rules;
  // The local name of the provider whose riders are users of the company.
  std::string platform_name;
  // Waits for the pace, sends, and returns kOk or kRefused, or kLater where the answer is unusable;
  // throws Interrupted (cloud/link/line.h) for all else.
  std::function<Reply(const Request&)> ask;
};

// One thread.
class Sender {
 public:
  Sender(SenderSettings settings, db::CompanyId company);

  // Sends the step, and the requests that its refusal makes necessary. False where the cloud gave
  // no usable answer: the step waits. Throws Interrupted and what the database throws.
  bool Send(const Waiting& waiting);

 private:
  bool SendOrderStep(const Waiting& waiting);
  bool SendMenuStep(const Waiting& waiting);
  bool ReadFirst(const std::string& order_id);
  // Nothing where it is not known what the cloud calls the order, or the row that the step ends.
  std::optional<Request> RequestFor(const Waiting& waiting);
  void Accept(const Waiting& waiting, json::Value record, const std::string& etag);
  std::optional<aliases::Alias> AliasOf(db::Session& session, std::string_view order_id) const;
  void PutAlias(db::Tx& tx, const std::string& order_id, json::Value record) const;
  void NoteReference(db::Tx& tx, const Waiting& waiting, const std::string& reference,
                     const db::Stamp& stamp);
  // What a record is to the request under way (MergeSettings).
  struct Role {
    const Step* answered = nullptr;
    bool looked_for = false;
    std::string_view etag = {};
  };
  void Take(db::Tx& tx, json::Value record, const std::vector<std::string>& numbers,
            const db::Stamp& stamp, const Role& role);
  // Whether the request is still to be sent: neither dropped nor its order parked.
  bool IsStillWaiting(db::Session& session, const Waiting& waiting) const;
  // The order goes on without the request, which is not made again.
  void GoOnWithout(db::Tx& tx, const Waiting& waiting, const db::Stamp& stamp);

  // What follows from a refusal (sender_refusals.cc); false as Send().
  bool Follow(const Waiting& waiting, const Reply& reply);
  void ParkGone(const Waiting& waiting, std::string_view problem);
  void ParkRefused(const Waiting& waiting, std::string_view problem);
  void ParkRefused(db::Tx& tx, const Waiting& waiting, std::string_view problem);
  // The order as the cloud has it now. kUnknown: it has no alias; kNoAnswer: no usable answer came.
  enum class Looked : uint8_t { kUnknown, kNoAnswer, kAnswered };
  Looked Look(const std::string& order_id, Reply& reply);
  bool LearnRow(const Waiting& waiting);
  bool ParkAfterLook(const Waiting& waiting, std::string_view problem);
  bool FindOrder(const Waiting& waiting, std::string_view problem);
  void TakeFound(const Waiting& waiting, json::Value record);
  bool IsSameOrder(db::Tx& tx, const std::string& order_id, json::Value record);
  bool ReadOrder(const Waiting& waiting, std::string_view problem);
  bool IsDone(db::Tx& tx, const Waiting& waiting, json::Value record);
  void RepeatUnderOwnKey(db::Tx& tx, const Waiting& waiting, std::string_view problem);
  std::map<std::string, std::string> SkusOf(db::Session& session, const Waiting& waiting);
  void LeaveOut(const Waiting& waiting, const std::vector<std::string>& fields);
  void Drop(const Waiting& waiting, const std::string& trouble);

  const SenderSettings settings_;
  const db::CompanyId company_;
};

}  // namespace comanda::cloud
