#pragma once

// What iFood and Open Delivery have in common: a queue of events that are given again until they
// are acknowledged. Pure.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/order_reading.h"
#include "delivery/order_source.h"
#include "json/writer.h"

namespace comanda::delivery {

// A credential; empty where there is none.
std::string ValueOf(const Variables& account, const std::string& name);

// The events of an array, or of {"events": […]}. One without an order is of no consequence here,
// and is acknowledged all the same. Nothing where the answer is no such list, or an event has no
// id.
using ReadEvent = std::function<AppEvent(const OrderReading& event)>;
std::optional<std::vector<AppEvent>> ReadQueue(const json::Value& answer, const ReadEvent& read);

// Calls of at most `at_once` events each; `write` writes the members of one.
using WriteEvent = std::function<void(json::Writer& out, const AppEvent& event)>;
std::vector<OrderCall> AcknowledgeQueue(const std::vector<AppEvent>& events, std::string path,
                                        size_t at_once, const WriteEvent& write);

}  // namespace comanda::delivery
