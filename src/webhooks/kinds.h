#pragma once

// The kinds of messages that a subscription can ask for, and which of them an event of the log
// gives (contract section 13, Kinds). Pure. Any thread.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comanda::webhooks {

// In the order in which the messages of one event are sent.
enum class Kind : uint8_t {
  kOrderCreated,
  kOrderUpdated,
  kOrderDeleted,
  kProductCreated,
  kProductUpdated,
  kStoreStatusChanged,
  kTicketUpdated,
  kOrderStatusChanged,
  kOrderCancelled,
  kOrderPaid,
  kTest,
};

// THE table of kinds: a new one is a row here, and a case of MessagesOf().
struct KindRow {
  Kind kind;
  std::string_view name;
  // True of the log's own kinds; the others are derived from `changes` of an ORDER_UPDATED.
  bool is_of_log;
};
inline constexpr std::array kKinds = {
    KindRow{Kind::kOrderCreated, "ORDER_CREATED", true},
    KindRow{Kind::kOrderUpdated, "ORDER_UPDATED", true},
    KindRow{Kind::kOrderDeleted, "ORDER_DELETED", true},
    KindRow{Kind::kProductCreated, "PRODUCT_CREATED", true},
    KindRow{Kind::kProductUpdated, "PRODUCT_UPDATED", true},
    KindRow{Kind::kStoreStatusChanged, "STORE_STATUS_CHANGED", true},
    KindRow{Kind::kTicketUpdated, "TICKET_UPDATED", true},
    KindRow{Kind::kOrderStatusChanged, "ORDER_STATUS_CHANGED", false},
    KindRow{Kind::kOrderCancelled, "ORDER_CANCELLED", false},
    KindRow{Kind::kOrderPaid, "ORDER_PAID", false},
    KindRow{Kind::kTest, "WEBHOOK_TEST", false},
};
constexpr std::string_view Name(Kind kind) { return kKinds[static_cast<size_t>(kind)].name; }
// Nothing if no kind has that name.
std::optional<Kind> FindKind(std::string_view name);

// The word that stands for all kinds of the log, in `events`.
inline constexpr std::string_view kEveryKind = "*";

// A set of kinds.
class Kinds {
 public:
  constexpr Kinds() = default;
  static Kinds OfLog();
  // ORDER_CREATED, ORDER_UPDATED, ORDER_DELETED: what a subscription has that names none.
  static Kinds Default();
  constexpr void Add(Kind kind) { bits_ |= 1u << static_cast<unsigned>(kind); }
  constexpr bool Has(Kind kind) const { return (bits_ >> static_cast<unsigned>(kind)) & 1u; }
  constexpr bool empty() const { return bits_ == 0; }
  bool operator==(const Kinds&) const = default;

  // The names, with a comma between them; "*" for the kinds of the log.
  std::string Text() const;
  // Of such a text. Names that this program does not know are left out.
  static Kinds Parse(std::string_view text);

 private:
  uint32_t bits_ = 0;
};

// What decides about an event. `changes` are names with commas between them (events/log.h), `body`
// is the record after the change.
struct LoggedChange {
  std::string_view type;
  std::string_view changes;
  std::string_view body;
};
// Whether MessagesOf() looks at the body.
bool NeedsBody(Kinds kinds, const LoggedChange& change);
// The messages of the event that were asked for, in order.
std::vector<Kind> MessagesOf(Kinds kinds, const LoggedChange& change);

// The kinds that a subscription asks for, by position in the log: a change of `events` counts for
// later events alone.
class Selection {
 public:
  // From that position on.
  void Set(int64_t after_seq, Kinds kinds);
  // The kinds that apply to the event with that number, and to all later ones.
  Kinds At(int64_t seq) const;
  Kinds Last() const;
  // Forgets what no event after the position needs.
  void ForgetBefore(int64_t seq);

  // "0:ORDER_CREATED,ORDER_UPDATED 812:*"
  std::string Text() const;
  static Selection Parse(std::string_view text);

 private:
  struct Step {
    int64_t after_seq;
    Kinds kinds;
  };
  std::vector<Step> steps_;  // by after_seq
};

// The id of a message: that of the event for the log's own kinds, else one derived from it, the
// same on every attempt.
std::string MessageId(std::string_view event_id, Kind kind);

}  // namespace comanda::webhooks
