#include "cloud/planner.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/text.h"
#include "cloud/bodies.h"
#include "json/reader.h"
#include "orders/lifecycle.h"

namespace comanda::cloud {
namespace {

using orders::DeliveryMove;
using orders::DeliveryStatus;
using orders::Status;

Fields FieldsOf(const orders::Order& order) {
  return {.comment = order.comment,
          .order_title = order.order_title,
          .delivery_comment = order.delivery_comment,
          .scheduled_delivery_date = order.scheduled_delivery_date,
          .delivery_price = order.delivery_price,
          .packaging_price = order.packaging_price};
}

// The fields of a record as GET shows it.
Fields FieldsOf(const std::string& record, int decimals) {
  const json::Document document = json::Document::ParseStored(record);
  json::Errors errors;
  json::ObjectReader reader(document.root(), "", errors, json::UnknownFields::kIgnored);
  const auto text = [&](std::string_view name) -> std::optional<std::string> {
    const std::optional<json::Value> value = reader.Raw(name);
    if (!value || value->kind() != json::Kind::kText) return std::nullopt;
    return std::string(value->text());
  };
  return {.comment = text("comment"),
          .order_title = text("order_title"),
          .delivery_comment = text("delivery_comment"),
          .scheduled_delivery_date = reader.Instant("scheduled_delivery_date"),
          .delivery_price = reader.Money("delivery_price", decimals).value_or(0),
          .packaging_price = reader.Money("packaging_price", decimals).value_or(0)};
}

// A comment only grows: the cloud puts a line break and the addition behind what it has. Nothing
// where `to` does not begin with `from`: the cloud has another comment, which nobody overwrites.
std::optional<std::string_view> Addition(const std::optional<std::string>& from,
                                         std::string_view to) {
  if (!from || from->empty()) return to;
  if (!to.starts_with(*from)) return std::nullopt;
  to.remove_prefix(from->size());
  if (to.starts_with('\n')) return to.substr(1);
  return to.empty() ? std::optional(to) : std::nullopt;
}

// Cuts an addition into pieces that an endpoint accepts, at ends of lines: joined again by line
// breaks they are the addition. Each line is short enough, since it came as one comment.
std::vector<std::string> PiecesOf(std::string_view addition) {
  std::vector<std::string> pieces;
  while (!addition.empty()) {
    const size_t end = std::min(addition.find('\n'), addition.size());
    const std::string_view line = addition.substr(0, end);
    addition.remove_prefix(std::min(end + 1, addition.size()));
    const bool fits = !pieces.empty() && CharacterCount(pieces.back()) + 1 + CharacterCount(line) <=
                                             orders::kCommentMax;
    if (fits) {
      pieces.back() += '\n';
      pieces.back() += line;
    } else {
      pieces.emplace_back(line);
    }
  }
  return pieces;
}

// The furthest status of the life that the order has reached, also where it was then cancelled.
Status Reached(const orders::Order& order) {
  Status reached = Status::kPending;
  for (const orders::StatusChange& change : order.status_history) {
    if (change.status != Status::kCancelled) reached = std::max(reached, change.status);
  }
  return reached;
}

// The status between two delivery statuses through which the cloud can be brought from one to the
// other: NOT_DELIVERED is reached from a delivery under way, and left only to one under way.
std::optional<DeliveryStatus> StatusBetween(std::optional<DeliveryStatus> from, DeliveryStatus to) {
  for (size_t i = 0; i < orders::kDeliveryStatusNames.size(); ++i) {
    const auto between = static_cast<DeliveryStatus>(i);
    if (FindMove(from, between) == DeliveryMove::kMove &&
        FindMove(between, to) == DeliveryMove::kMove) {
      return between;
    }
  }
  return std::nullopt;
}

class Planner {
 public:
  explicit Planner(const PlanInput& input) : input_(input), order_(input.order) {
    plan_.image = input.image;
  }

  Plan Make() && {
    const bool is_ours = order_.origin == orders::Origin::kBox;
    if (is_ours) {
      if (!image().is_placed) PlanPlacing();
      PlanFields();
      PlanNewRows();
      PlanEndsOfRows();
    }
    PlanStatus(std::min(Reached(order_), Status::kDelivered));
    if (!orders::IsClosed(image().status)) {
      PlanAssignment();
      PlanRider();
      PlanDelivery();
    }
    PlanStatus(Reached(order_));
    if (order_.status == Status::kCancelled) PlanCancel();
    return std::move(plan_);
  }

 private:
  Image& image() { return plan_.image; }
  int decimals() const { return order_.currency_decimals; }

  // `key` of the till, or nothing.
  void Add(StepKind kind, const std::optional<std::string>& key, std::string body,
           std::vector<std::string> row_ids, UtcMs occurred_at) {
    Step step{.position = ++image().last_position,
              .kind = kind,
              .key = key.value_or(""),
              .body = std::move(body),
              .row_ids = std::move(row_ids),
              .occurred_at = occurred_at};
    if (!key) step.key = Concat({"c1-", order_.id, "-", step.position});
    plan_.steps.push_back(std::move(step));
  }

  Refer References() {
    return [this](std::string_view field, aliases::Kind kind,
                  const std::optional<std::string>& box_id) -> std::optional<std::string> {
      if (!box_id) return std::nullopt;
      std::optional<std::string> there = input_.cloud_id(kind, *box_id);
      if (!there) plan_.left_out.push_back({std::string(field), *box_id});
      return there;
    };
  }

  void PlanPlacing() {
    Fields fields =
        input_.first_record ? FieldsOf(*input_.first_record, decimals()) : FieldsOf(order_);
    // What was appended later may not fit into one comment.
    if (!input_.first_record) fields.comment = std::nullopt;
    Add(StepKind::kPlace, order_.reference, PlaceBody(order_, fields, References()), {},
        order_.created_at);
    image().is_placed = true;
    image().fields = std::move(fields);
  }

  void PlanFields() {
    const Fields now = FieldsOf(order_);
    const bool is_closed = orders::IsClosed(image().status);  // takes a comment alone
    const Fields others = is_closed ? image().fields : now;
    std::vector<std::string> pieces;
    if (now.comment) {
      const auto addition = Addition(image().fields.comment, *now.comment);
      if (addition) pieces = PiecesOf(*addition);
    }
    const auto first = pieces.empty() ? std::nullopt : std::optional(pieces.front());
    // A date that has passed meanwhile was in the future when it was set.
    const UtcMs at =
        std::min(order_.updated_at, others.scheduled_delivery_date.value_or(INT64_MAX));
    const auto body = FieldsBody(image().fields, others, first, decimals());
    if (body) Add(StepKind::kFields, std::nullopt, *body, {}, at);
    for (size_t i = 1; i < pieces.size(); ++i) {
      Add(StepKind::kFields, std::nullopt, *FieldsBody({}, {}, pieces[i], decimals()), {}, at);
    }
    std::optional<std::string> comment =
        pieces.empty() ? std::move(image().fields.comment) : now.comment;
    image().fields = others;
    image().fields.comment = std::move(comment);
  }

  // The key of the request that made a row, unless an earlier row of its kind has the same: the
  // cloud would take the second step for the first again.
  template <typename Row>
  static std::optional<std::string> KeyOf(const std::vector<Row>& rows, size_t index) {
    const auto& key = rows[index].request_key;
    if (!key) return std::nullopt;
    for (size_t i = 0; i < index; ++i) {
      if (rows[i].request_key == key) return std::nullopt;
    }
    return key;
  }

  void PlanNewRows() {
    PlanNewCombos();
    for (size_t i = 0; i < order_.discounts.size(); ++i) {
      const orders::Discount& discount = order_.discounts[i];
      if (!image().discounts.try_emplace(discount.id).second) continue;
      Add(StepKind::kDiscount, KeyOf(order_.discounts, i), DiscountBody(discount, decimals()),
          {discount.id}, discount.created_at);
    }
    for (size_t i = 0; i < order_.payments.size(); ++i) {
      const orders::Payment& payment = order_.payments[i];
      if (!image().payments.try_emplace(payment.id).second) continue;
      Add(StepKind::kPayment, KeyOf(order_.payments, i),
          PaymentBody(payment, decimals(), References()), {payment.id}, payment.created_at);
    }
  }

  // One POST of the till is one step: its rows stand together, and have one key and one time.
  void PlanNewCombos() {
    const std::vector<orders::Combo>& combos = order_.combos;
    for (size_t i = 0; i < combos.size();) {
      const size_t first = i++;
      if (image().combos.contains(combos[first].id)) continue;
      while (i < combos.size() && i - first < orders::kCombosPerCallMax &&
             combos[i].request_key == combos[first].request_key &&
             combos[i].created_at == combos[first].created_at &&
             !image().combos.contains(combos[i].id)) {
        ++i;
      }
      std::vector<const orders::Combo*> rows;
      std::vector<std::string> ids;
      for (size_t row = first; row < i; ++row) {
        rows.push_back(&combos[row]);
        ids.push_back(combos[row].id);
        image().combos.try_emplace(combos[row].id);
      }
      Add(StepKind::kCombos, KeyOf(combos, first), CombosBody(rows, decimals(), References()),
          std::move(ids), combos[first].created_at);
    }
  }

  template <typename Row>
  void PlanCancelsOf(const std::vector<Row>& rows, Rows& there, StepKind kind) {
    for (const Row& row : rows) {
      bool& is_cancelled = there[row.id].is_cancelled;
      if (is_cancelled || !row.canceled_at) continue;
      Add(kind, std::nullopt, "", {row.id}, *row.canceled_at);
      is_cancelled = true;
    }
  }

  void PlanEndsOfRows() {
    PlanCancelsOf(order_.combos, image().combos, StepKind::kCancelCombo);
    for (auto& [id, there] : image().discounts) {
      const bool is_here =
          std::ranges::find(order_.discounts, id, &orders::Discount::id) != order_.discounts.end();
      if (is_here || there.is_cancelled) continue;
      Add(StepKind::kRemoveDiscount, std::nullopt, "", {id}, order_.updated_at);
      there.is_cancelled = true;
    }
    PlanCancelsOf(order_.payments, image().payments, StepKind::kCancelPayment);
  }

  void PlanStatus(Status target) {
    if (target <= image().status) return;
    Add(StepKind::kStatus, std::nullopt, StatusBody(target), {},
        ReachedAt(order_, target).value_or(order_.updated_at));
    image().status = target;
  }

  // RIDER_ASSIGNED that somebody reported goes before the rider, whose PUT would set it unreported.
  void PlanAssignment() {
    const bool is_reported = order_.delivery_status == DeliveryStatus::kRiderAssigned &&
                             !order_.delivery_status_by_rider && order_.delivered_by;
    if (is_reported && !image().delivery_status) {
      Report(DeliveryStatus::kRiderAssigned, std::nullopt);
    }
  }

  void PlanRider() {
    const std::optional<std::string> rider =
        order_.rider ? RiderBody(*order_.rider, input_.rider_provider, References()) : "";
    if (!rider || *rider == image().rider) return;
    const bool sets_delivery =
        order_.service_type == orders::ServiceType::kDelivery && !image().delivery_status;
    if (!rider->empty()) {
      Add(StepKind::kRider, std::nullopt, *rider, {}, order_.rider->assigned_at);
      if (sets_delivery) {
        image().delivery_status = DeliveryStatus::kRiderAssigned;
        image().delivery_status_by_rider = true;
      }
    } else {
      Add(StepKind::kNoRider, std::nullopt, "", {}, order_.updated_at);
      if (std::exchange(image().delivery_status_by_rider, false)) {
        image().delivery_status = std::nullopt;
      }
    }
    image().rider = *rider;
  }

  void PlanDelivery() {
    const std::optional<DeliveryStatus> target = order_.delivery_status;
    if (!target) return;
    const std::optional<std::string> reason =
        *target == DeliveryStatus::kNotDelivered ? order_.delivery_status_reason : std::nullopt;
    if (image().delivery_status == target) {
      if (reason && reason != image().delivery_status_reason) Report(*target, reason);
      return;
    }
    if (FindMove(image().delivery_status, *target) != DeliveryMove::kMove) {
      const auto between = StatusBetween(image().delivery_status, *target);
      if (!between) return;
      Report(*between, std::nullopt);
    }
    Report(*target, reason);
  }

  void Report(DeliveryStatus status, const std::optional<std::string>& reason) {
    Add(StepKind::kDelivery, std::nullopt, DeliveryBody(status, reason), {}, order_.updated_at);
    image().delivery_status = status;
    image().delivery_status_reason = reason;
    image().delivery_status_by_rider = false;
    const auto lift = orders::LiftOf(status);
    if (lift) image().status = std::max(image().status, lift->status);
  }

  void PlanCancel() {
    if (image().status == Status::kCancelled) return;
    Add(StepKind::kCancel, std::nullopt, CancelBody(order_.cancel_reason), {},
        order_.canceled_at.value_or(order_.updated_at));
    image().status = Status::kCancelled;
  }

  const PlanInput& input_;
  const orders::Order& order_;
  Plan plan_;
};

}  // namespace

Plan MakePlan(const PlanInput& input) { return Planner(input).Make(); }

}  // namespace comanda::cloud
