#pragma once

// Plans what is to be sent of an order that this box made (contract section 15.1), from the image
// of the order in the cloud and the order as it stands here: however many changes it had, and
// whether or not the cloud can be reached. Pure.
//
// The order of the steps is one in which the cloud accepts them: it refuses riders and delivery
// statuses of a closed order, and a cancel while payments are active. So: create, fields, combos,
// discounts, payments, cancels of rows, status up to DELIVERED in one move, rider, delivery status,
// FINALIZED, and the cancel of the order last.
//
// Keys (contract section 15.2): the creation has the key that the till used here, and so has a POST
// of rows; every other step has "c1-<order id>-<position>". A till that lost the box and repeats
// itself against the cloud makes nothing twice.
//
// Of an order that the cloud made, only status, rider and delivery status are planned: everything
// else of it is changed in the cloud alone.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aliases/aliases.h"
#include "cloud/image.h"
#include "cloud/step.h"
#include "orders/order.h"

namespace comanda::cloud {

struct PlanInput {
  const orders::Order& order;
  // The record of version 1 (orders::FirstRecord), or null where it is gone: the creation is then
  // sent with the fields as they are now.
  const std::string* first_record = nullptr;
  const Image& image;
  // The cloud's id of a record of this box; nothing where it is not known there.
  std::function<std::optional<std::string>(aliases::Kind, std::string_view box_id)> cloud_id;
  // The name in the cloud of the provider whose riders are users of the company.
  std::string_view rider_provider;
};

// A reference that is left out of a step, because the cloud does not know the record. Names and
// prices are sent all the same.
struct LeftOut {
  std::string field;  // "client_id", "combos[2].variant_id", "rider"
  std::string box_id;

  bool operator==(const LeftOut&) const = default;
};

struct Plan {
  std::vector<Step> steps;  // in the order in which they are sent
  Image image;              // once they are accepted
  std::vector<LeftOut> left_out;
};

Plan MakePlan(const PlanInput& input);

}  // namespace comanda::cloud
