#pragma once

namespace comanda::http {

// The base of an object of a later room that its own handlers reach through http::Site, which names
// no type of such a room. One function of the room casts the pointer back.
struct RoomObject {};

}  // namespace comanda::http
