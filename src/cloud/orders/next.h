#pragma once

// What is to be sent of an order: the first thing in which the local order differs from its mirror
// (cloud/orders/mirror.h), as one request (contract section 15.1). After its answer the question is
// asked again. Nothing is planned ahead: however many changes an order had while the cloud was
// away, what is sent is what differs now. Pure.
//
// The order of the requests is one in which the cloud accepts them: it refuses riders and delivery
// statuses of a closed order, and a cancel while payments are active. So: create, fields, combos,
// discounts, payments, cancels of rows, status up to DELIVERED in one move, rider, delivery status,
// FINALIZED, and the cancel of the order last. Of an order that is cancelled in the cloud, only a
// comment is sent.
//
// Keys (contract section 15.2): the creation has the key that the till used here, and so has a POST
// of rows; every other request has "c1-<order id>-<epoch>-<position>". A till that lost the box and
// repeats itself against the cloud makes nothing twice.
//
// Of an order that the cloud made, only status, rider and delivery status are sent: everything else
// of it is changed in the cloud alone.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aliases/aliases.h"
#include "cloud/orders/mirror.h"
#include "cloud/orders/step.h"
#include "orders/order.h"

namespace comanda::cloud {

// The order as it stands here, and what its requests are made of.
struct Local {
  const orders::Order& order;
  // The record of version 1 (orders::FirstRecord), or nothing where it is gone: the creation is
  // then sent with the fields as they are now. Called for a creation alone.
  std::function<std::optional<std::string>()> first_record;
  // The cloud's id of a record of this box; nothing where it is not known to the cloud.
  std::function<std::optional<std::string>(aliases::Kind, std::string_view box_id)> cloud_id;
  // The name in the cloud of the provider whose riders are users of the company.
  std::string_view rider_provider;
  int64_t epoch = 1;  // of the database: a restored one uses no key again
};

// A reference that is left out of a request, because the cloud does not know the record. Names and
// prices are sent all the same.
struct LeftOut {
  std::string field;  // "client_id", "combos[2].variant_id", "rider"
  std::string box_id;

  bool operator==(const LeftOut&) const = default;
};

struct Next {
  std::optional<Step> step;  // nothing: nothing differs that may be sent
  std::vector<LeftOut> left_out;
};
Next FindNext(const Mirror& mirror, const Local& local);

// A comment as it is once the addition is appended.
std::string Appended(const std::optional<std::string>& comment, std::string_view addition);

// The mirror learns what the cloud has once it has accepted the request.
void Accept(Mirror& mirror, const Step& step, const orders::Order& order);

// The rows of the kind that the request adds or ends; null for other requests.
const Rows* RowsOf(const Mirror& mirror, StepKind kind);

// The request is not made again: the cloud has refused it, and nothing of the order waits for it.
void GiveUp(Mirror& mirror, const Step& step);

// Whether the cloud has refused the rider.
bool HasGivenUpRider(const Mirror& mirror);

// The cloud has accepted this rider, and shows another. True the first time: he may be requested
// once more.
bool SetAside(Mirror& mirror, const std::string& rider);
// The cloud shows that it takes riders.
void TakeUpAgain(Mirror& mirror);

// The cloud has refused the scheduled date of these fields: it is left out from now on.
void GiveUpDate(Mirror& mirror, const Fields& fields);
bool HasGivenUpDate(const Mirror& mirror, const Fields& fields);

// All requests that are still to be made, as far as is known now; the mirror becomes what it is
// once they are accepted.
std::vector<Step> Remaining(Mirror& mirror, const Local& local);

}  // namespace comanda::cloud
