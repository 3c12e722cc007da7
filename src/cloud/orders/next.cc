#include "cloud/orders/next.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/text.h"
#include "cloud/orders/bodies.h"
#include "cloud/orders/shown_members.h"
#include "json/reader.h"
#include "orders/lifecycle.h"

namespace comanda::cloud {
namespace {

using orders::DeliveryMove;
using orders::DeliveryStatus;
using orders::Status;

constexpr std::string_view kAside = "aside ";
// Of one order: more than its rows (contract section 1, caps) and their ends can need.
constexpr size_t kStepsMax = 3'000;

// The fields of a record as GET shows it, or of a body as it is sent.
Fields FieldsIn(const std::string& record, int decimals) {
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

// What a request is about, whatever its key: of two that are the same, the cloud gives the same
// answer.
std::string Identity(const Step& step) {
  return Concat({Name(step.kind), " ", step.row_ids.empty() ? step.body : step.row_ids.front()});
}

std::string IdentityOfDate(const Fields& fields) {
  return Concat({"date ", fields.scheduled_delivery_date.value_or(0)});
}

class Finder {
 public:
  Finder(const Mirror& mirror, const Local& local)
      : order_(local.order), mirror_(mirror), local_(local) {}

  Next Find() && {
    FindStep();
    return std::move(next_);
  }

 private:
  int decimals() const { return order_.currency_decimals; }

  bool FindStep() {
    const bool is_ours = order_.origin == orders::Origin::kBox;
    if (is_ours && !mirror_.is_placed) return Place();
    if (is_ours && ChangeFields()) return true;
    if (mirror_.status == Status::kCancelled) return false;
    if (is_ours && (AddRows() || EndRows())) return true;
    return MoveTo(std::min(Reached(order_), Status::kDelivered)) ||
           (!orders::IsClosed(mirror_.status) && (Assign() || SetRider() || Deliver())) ||
           MoveTo(Reached(order_)) || Cancel();
  }

  // `key` of the till, or nothing. False where the cloud has refused it before.
  bool Make(StepKind kind, const std::optional<std::string>& key, std::string body,
            std::vector<std::string> row_ids, UtcMs occurred_at) {
    Step step{.position = mirror_.last_position + 1,
              .kind = kind,
              .key = key.value_or(""),
              .body = std::move(body),
              .row_ids = std::move(row_ids),
              .occurred_at = occurred_at};
    if (mirror_.given_up.contains(Identity(step))) return false;
    if (!key) step.key = Concat({"c1-", order_.id, "-", local_.epoch, "-", step.position});
    next_.step = std::move(step);
    return true;
  }

  Refer References() {
    return [this](std::string_view field, aliases::Kind kind,
                  const std::optional<std::string>& box_id) -> std::optional<std::string> {
      if (!box_id) return std::nullopt;
      std::optional<std::string> there = local_.cloud_id(kind, *box_id);
      if (!there) next_.left_out.push_back({std::string(field), *box_id});
      return there;
    };
  }

  bool Place() {
    const auto first = local_.first_record();
    Fields fields = first ? FieldsIn(*first, decimals()) : FieldsOf(order_);
    // What was appended later may not fit into one comment.
    if (!first) fields.comment = std::nullopt;
    return Make(StepKind::kPlace, order_.reference, PlaceBody(order_, fields, References()), {},
                order_.created_at);
  }

  bool ChangeFields() {
    const Fields now = FieldsOf(order_);
    const Fields& there = mirror_.fields;
    const bool is_closed = orders::IsClosed(mirror_.status);  // takes a comment alone
    Fields wanted = is_closed ? there : now;
    if (HasGivenUpDate(mirror_, wanted)) {
      wanted.scheduled_delivery_date = there.scheduled_delivery_date;
    }
    std::optional<std::string> piece;
    if (now.comment) {
      const auto addition = Addition(there.comment, *now.comment);
      const auto pieces = addition ? PiecesOf(*addition) : std::vector<std::string>();
      if (!pieces.empty()) piece = pieces.front();
    }
    const auto body = FieldsBody(there, wanted, piece, decimals());
    if (!body) return false;
    // A date that has passed meanwhile was in the future when it was set.
    const UtcMs at =
        std::min(order_.updated_at, wanted.scheduled_delivery_date.value_or(INT64_MAX));
    return Make(StepKind::kFields, std::nullopt, *body, {}, at);
  }

  // The key of the request that made a row, unless an earlier row of its kind has the same: the
  // cloud would take the second request for the first again.
  template <typename Row>
  static std::optional<std::string> KeyOf(const std::vector<Row>& rows, size_t index) {
    const auto& key = rows[index].request_key;
    if (!key) return std::nullopt;
    for (size_t i = 0; i < index; ++i) {
      if (rows[i].request_key == key) return std::nullopt;
    }
    return key;
  }

  bool AddRows() {
    if (AddCombos()) return true;
    for (size_t i = 0; i < order_.discounts.size(); ++i) {
      const orders::Discount& discount = order_.discounts[i];
      if (mirror_.discounts.contains(discount.id)) continue;
      if (Make(StepKind::kDiscount, KeyOf(order_.discounts, i), DiscountBody(discount, decimals()),
               {discount.id}, discount.created_at)) {
        return true;
      }
    }
    for (size_t i = 0; i < order_.payments.size(); ++i) {
      const orders::Payment& payment = order_.payments[i];
      if (mirror_.payments.contains(payment.id)) continue;
      if (Make(StepKind::kPayment, KeyOf(order_.payments, i),
               PaymentBody(payment, decimals(), References()), {payment.id}, payment.created_at)) {
        return true;
      }
    }
    return false;
  }

  // One POST of the till is one request: its rows stand together, and have one key and one time.
  bool AddCombos() {
    const std::vector<orders::Combo>& combos = order_.combos;
    const auto is_new = [&](const orders::Combo& combo) {
      return !mirror_.combos.contains(combo.id);
    };
    const auto found = std::ranges::find_if(combos, is_new);
    if (found == combos.end()) return false;
    std::vector<const orders::Combo*> rows;
    std::vector<std::string> ids;
    for (auto row = found; row != combos.end() && ids.size() < orders::kCombosPerCallMax; ++row) {
      const bool is_of_the_same = row->request_key == found->request_key &&
                                  row->created_at == found->created_at && is_new(*row);
      if (!is_of_the_same) break;
      rows.push_back(&*row);
      ids.push_back(row->id);
    }
    return Make(StepKind::kCombos, KeyOf(combos, static_cast<size_t>(found - combos.begin())),
                CombosBody(rows, decimals(), References()), std::move(ids), found->created_at);
  }

  template <typename Row>
  bool EndThoseOf(const std::vector<Row>& rows, const Rows& there, StepKind kind) {
    return std::ranges::any_of(rows, [&](const Row& row) {
      const auto known = there.find(row.id);
      const bool is_to_end = row.canceled_at && known != there.end() && !known->second.is_cancelled;
      return is_to_end && Make(kind, std::nullopt, "", {row.id}, *row.canceled_at);
    });
  }

  bool EndRows() {
    if (EndThoseOf(order_.combos, mirror_.combos, StepKind::kCancelCombo)) return true;
    for (const auto& [id, there] : mirror_.discounts) {
      const bool is_here =
          std::ranges::find(order_.discounts, id, &orders::Discount::id) != order_.discounts.end();
      if (is_here || there.is_cancelled) continue;
      if (Make(StepKind::kRemoveDiscount, std::nullopt, "", {id}, order_.updated_at)) return true;
    }
    return EndThoseOf(order_.payments, mirror_.payments, StepKind::kCancelPayment);
  }

  bool MoveTo(Status target) {
    return target > mirror_.status && Make(StepKind::kStatus, std::nullopt, StatusBody(target), {},
                                           ReachedAt(order_, target).value_or(order_.updated_at));
  }

  // RIDER_ASSIGNED that somebody reported goes before the rider, whose PUT would set it unreported.
  bool Assign() {
    const bool is_reported = order_.delivery_status == DeliveryStatus::kRiderAssigned &&
                             !order_.delivery_status_by_rider && order_.delivered_by;
    return is_reported && !mirror_.delivery_status &&
           Report(DeliveryStatus::kRiderAssigned, std::nullopt);
  }

  // Nothing for a rider whom the cloud does not know.
  std::optional<std::string> RiderHere() {
    return order_.rider ? RiderBody(*order_.rider, local_.rider_provider, References()) : "";
  }

  bool SetRider() {
    const std::optional<std::string> rider = RiderHere();
    if (!rider || *rider == mirror_.rider) return false;
    if (rider->empty()) {
      return Make(StepKind::kNoRider, std::nullopt, "", {}, order_.updated_at);
    }
    return Make(StepKind::kRider, std::nullopt, *rider, {}, order_.rider->assigned_at);
  }

  bool Deliver() {
    const std::optional<DeliveryStatus> target = order_.delivery_status;
    if (!target) return false;
    // It comes with the rider, whom the cloud does not take.
    const bool is_of_the_rider = target == DeliveryStatus::kRiderAssigned &&
                                 order_.delivery_status_by_rider && RiderHere() != mirror_.rider;
    if (is_of_the_rider) return false;
    const std::optional<std::string> reason =
        *target == DeliveryStatus::kNotDelivered ? order_.delivery_status_reason : std::nullopt;
    if (mirror_.delivery_status == target) {
      return reason && reason != mirror_.delivery_status_reason && Report(*target, reason);
    }
    if (FindMove(mirror_.delivery_status, *target) == DeliveryMove::kMove) {
      return Report(*target, reason);
    }
    const auto between = StatusBetween(mirror_.delivery_status, *target);
    // On the way to what was refused before there is nothing to do.
    return between && !IsGivenUp(*target, reason) && Report(*between, std::nullopt);
  }

  bool IsGivenUp(DeliveryStatus status, const std::optional<std::string>& reason) const {
    return mirror_.given_up.contains(
        Identity({.kind = StepKind::kDelivery, .body = DeliveryBody(status, reason)}));
  }

  bool Report(DeliveryStatus status, const std::optional<std::string>& reason) {
    return Make(StepKind::kDelivery, std::nullopt, DeliveryBody(status, reason), {},
                order_.updated_at);
  }

  bool Cancel() {
    return order_.status == Status::kCancelled &&
           Make(StepKind::kCancel, std::nullopt, CancelBody(order_.cancel_reason), {},
                order_.canceled_at.value_or(order_.updated_at));
  }

  const orders::Order& order_;
  const Mirror& mirror_;
  const Local& local_;
  Next next_;
};

// What a PATCH that was accepted has made of the fields.
void AcceptFields(Fields& fields, const std::string& body, int decimals) {
  const json::Document document = json::Document::ParseStored(body);
  const Fields sent = FieldsIn(body, decimals);
  const auto has = [&](std::string_view name) { return document.root().Find(name).has_value(); };
  if (sent.comment) fields.comment = Appended(fields.comment, *sent.comment);
  if (has("order_title")) fields.order_title = sent.order_title;
  if (has("delivery_comment")) fields.delivery_comment = sent.delivery_comment;
  if (has("scheduled_delivery_date")) fields.scheduled_delivery_date = sent.scheduled_delivery_date;
  if (has("delivery_price")) fields.delivery_price = sent.delivery_price;
  if (has("packaging_price")) fields.packaging_price = sent.packaging_price;
}

void AcceptRider(Mirror& mirror, const Step& step, orders::ServiceType service_type) {
  mirror.rider = step.body;
  if (step.kind == StepKind::kNoRider) {
    if (std::exchange(mirror.delivery_status_by_rider, false)) mirror.delivery_status.reset();
  } else if (service_type == orders::ServiceType::kDelivery && !mirror.delivery_status) {
    mirror.delivery_status = DeliveryStatus::kRiderAssigned;
    mirror.delivery_status_by_rider = true;
  }
}

void AcceptDelivery(Mirror& mirror, const std::string& body) {
  const json::Document document = json::Document::ParseStored(body);
  const ShownMembers members(document.root());
  const auto status = members.OneOf("delivery_status", orders::kDeliveryStatusNames);
  if (!status) return;
  mirror.delivery_status = static_cast<DeliveryStatus>(*status);
  mirror.delivery_status_reason = members.Text("reason");
  mirror.delivery_status_by_rider = false;
  const auto lift = orders::LiftOf(*mirror.delivery_status);
  if (lift) mirror.status = std::max(mirror.status, lift->status);
}

Status StatusOf(const std::string& body) {
  const json::Document document = json::Document::ParseStored(body);
  const auto status = ShownMembers(document.root()).OneOf("status", orders::kStatusNames);
  return status ? static_cast<Status>(*status) : Status::kPending;
}

bool IsOfRider(std::string_view identity) {
  return identity.starts_with("rider ") || identity.starts_with("no_rider ");
}

// What was refused may be accepted after a request of the same kind was.
void ForgetRefused(Mirror& mirror, StepKind kind) {
  const bool is_rider = kind == StepKind::kRider || kind == StepKind::kNoRider;
  std::erase_if(mirror.given_up, [&](std::string_view identity) {
    return is_rider ? IsOfRider(identity) : identity.starts_with(Concat({Name(kind), " "}));
  });
}

}  // namespace

std::string Appended(const std::optional<std::string>& comment, std::string_view addition) {
  return comment && !comment->empty() ? Concat({*comment, "\n", addition}) : std::string(addition);
}

Next FindNext(const Mirror& mirror, const Local& local) { return Finder(mirror, local).Find(); }

void Accept(Mirror& mirror, const Step& step, const orders::Order& order) {
  mirror.last_position = std::max(mirror.last_position, step.position);
  ForgetRefused(mirror, step.kind);
  switch (step.kind) {
    case StepKind::kPlace:
      // What the cloud has shown meanwhile is newer.
      if (std::exchange(mirror.is_placed, true)) return;
      mirror.fields = FieldsIn(step.body, order.currency_decimals);
      return;
    case StepKind::kFields:
      return AcceptFields(mirror.fields, step.body, order.currency_decimals);
    case StepKind::kCombos:
      for (const std::string& id : step.row_ids) mirror.combos.try_emplace(id);
      return;
    case StepKind::kDiscount:
      mirror.discounts.try_emplace(step.row_ids.at(0));
      return;
    case StepKind::kPayment:
      mirror.payments.try_emplace(step.row_ids.at(0));
      return;
    case StepKind::kCancelCombo:
      mirror.combos[step.row_ids.at(0)].is_cancelled = true;
      return;
    case StepKind::kRemoveDiscount:
      mirror.discounts[step.row_ids.at(0)].is_cancelled = true;
      return;
    case StepKind::kCancelPayment:
      mirror.payments[step.row_ids.at(0)].is_cancelled = true;
      return;
    case StepKind::kStatus:
      mirror.status = std::max(mirror.status, StatusOf(step.body));
      return;
    case StepKind::kRider:
    case StepKind::kNoRider:
      return AcceptRider(mirror, step, order.service_type);
    case StepKind::kDelivery:
      return AcceptDelivery(mirror, step.body);
    case StepKind::kCancel:
      mirror.status = Status::kCancelled;
      return;
    case StepKind::kMenu:
    case StepKind::kMenuClear:
    case StepKind::kRead:
      return;
  }
}

const Rows* RowsOf(const Mirror& mirror, StepKind kind) {
  using enum StepKind;
  if (kind == kCombos || kind == kCancelCombo) return &mirror.combos;
  if (kind == kPayment || kind == kCancelPayment) return &mirror.payments;
  if (kind == kDiscount || kind == kRemoveDiscount) return &mirror.discounts;
  return nullptr;
}

bool HasGivenUpDate(const Mirror& mirror, const Fields& fields) {
  return mirror.given_up.contains(IdentityOfDate(fields));
}

void GiveUpDate(Mirror& mirror, const Fields& fields) {
  mirror.given_up.insert(IdentityOfDate(fields));
}

bool HasGivenUpRider(const Mirror& mirror) {
  return std::ranges::any_of(mirror.given_up, IsOfRider);
}

bool SetAside(Mirror& mirror, const std::string& rider) {
  return mirror.given_up.insert(Concat({kAside, rider})).second;
}

void TakeUpAgain(Mirror& mirror) {
  std::erase_if(mirror.given_up,
                [](std::string_view identity) { return identity.starts_with(kAside); });
}

void GiveUp(Mirror& mirror, const Step& step) { mirror.given_up.insert(Identity(step)); }

std::vector<Step> Remaining(Mirror& mirror, const Local& local) {
  std::vector<Step> steps;
  while (steps.size() < kStepsMax) {
    std::optional<Step> step = FindNext(mirror, local).step;
    if (!step) break;
    Accept(mirror, *step, local.order);
    steps.push_back(*std::move(step));
  }
  return steps;
}

}  // namespace comanda::cloud
