#pragma once

// What is read from the cloud, and whether it was (contract section 15.9). A reading that failed,
// or that is long overdue, is told to people: until it succeeds the sides are not in step. Pure.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "cloud/link/link.h"

namespace comanda::cloud {

inline constexpr std::string_view kCompanyPart = "company";
inline constexpr std::string_view kPaymentMethodsPart = "payment_methods";
inline constexpr std::string_view kTablesPart = "tables";
inline constexpr std::string_view kUsersPart = "users";
inline constexpr std::string_view kClientsPart = "clients";

struct Reading {
  std::string_view part;  // its name in Progress
  std::string_view path;
  int64_t every_ms;
  bool is_for_selling;       // nothing can be sold without it
  std::string_view subject;  // "the menu", for people
};
// THE table of the restaurant's own records, in the order in which they are read: what takes
// longest comes last.
inline constexpr std::array kReadings = {
    Reading{kCompanyPart, "/v1/company", 3'600'000, true, "the company"},
    Reading{kPaymentMethodsPart, "/v1/company/payment-methods", 3'600'000, true,
            "the payment methods"},
    Reading{kTablesPart, "/v1/company/tables", 3'600'000, true, "the tables"},
    Reading{kMenuPart, "/v1/menu", 300'000, true, "the menu"},
    Reading{kUsersPart, "/v1/users", 3'600'000, false, "the users"},
    Reading{kClientsPart, "/v1/clients", 3'600'000, false, "the clients"},
};

// Whether the cloud has such records.
bool IsWanted(const Reading& reading, const Link& link);

Visit VisitOf(const Progress& progress, std::string_view part);

// The ms until the part is to be read; 0: now. One that failed is read again after 5 s, 10 s, …
// 5 min.
int64_t DueInMs(const Reading& reading, const Progress& progress, UtcMs now);

// Notes how a reading ended at `now`. An empty trouble: all of it was read.
void NoteReading(Visit& visit, std::string trouble, UtcMs now);

// The cloud may have gone back to an earlier time: so many orders that were sent are to be compared
// (cloud/orders/went_back.h), and the products that were pushed (cloud/menu/menu_push.h).
void NoteMayHaveGoneBack(Progress& progress, int64_t orders, UtcMs now);
// When that was noticed; nothing: it has not, or all orders were compared since.
std::optional<UtcMs> GoneBackSince(const Link& link);
bool IsMenuToCompare(const Progress& progress);

// How often the orders of the last days are read from a cloud whose events are not followed.
inline constexpr int64_t kRecentOrdersEveryMs = 300'000;

struct Unread {
  std::string_view subject;
  std::optional<UtcMs> since;  // the first failure, or the last reading; nothing: never read
  std::string trouble;
  bool is_for_selling = false;
};
// The readings that keep the sides from being in step: those that have not succeeded since they
// failed, those that never took place, and those that are overdue by two periods.
std::vector<Unread> FindUnread(const Link& link, UtcMs now);
// "the payment methods of the cloud cannot be read since 2026-11-27T18:03:11.000Z: status 502".
std::string Describe(const Unread& unread);

}  // namespace comanda::cloud
