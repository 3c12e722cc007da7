#pragma once

// The rider and the delivery of an order, which both sides change (cloud/orders/authority.h): which
// of the two is taken (cloud/orders/merge.h), and what the mirror learns of them.

#include <optional>
#include <string>

#include "cloud/orders/match.h"
#include "cloud/orders/merge.h"
#include "cloud/orders/mirror.h"
#include "orders/order.h"

namespace comanda::cloud {

class SharedState {
 public:
  // `match` must outlive it, and its request under way must stay.
  explicit SharedState(const Match& match);

  bool TakesTheRider() const;
  DeliveryChoice ChooseTheDelivery() const;
  // Puts the rider and the delivery of this box into the order of the cloud where those of the
  // cloud are not taken.
  void KeepOurs(orders::Order& shown) const;
  // The mirror learns what the cloud has changed, and what of the request under way it has.
  // `rider`: that of the cloud, in the form in which it is stored locally.
  void Learn(Mirror& mirror, const std::optional<orders::Rider>& rider) const;
  // The body that assigns the rider; nothing for a rider that the cloud cannot have.
  std::optional<std::string> BodyOf(const std::optional<orders::Rider>& rider) const;

 private:
  RiderSides SidesOfRider() const;
  DeliverySides SidesOfDelivery() const;
  bool AnswersRider() const;
  bool ShowsRequestedRider() const;
  void LearnRider(Mirror& mirror, const std::optional<orders::Rider>& rider) const;
  void LearnDelivery(Mirror& mirror) const;

  const Match& match_;
  // Of the mirror as it was: what the cloud has once the request that is answered, or under way, is
  // accepted.
  Mirror mirror_, requested_;
};

}  // namespace comanda::cloud
