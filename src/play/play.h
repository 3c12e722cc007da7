#pragma once

// `comanda demo play`: the demo restaurant lives. An ordinary client of the API, which knows
// nothing of the rooms behind it: it writes the closed orders of the days before today, then sells
// as on a Friday evening until it is told to end. What it does is decided by its seed.

#include <cstdint>
#include <functional>
#include <string>

namespace comanda::play {

inline constexpr int64_t kDaysMax = 44;  // the server takes orders of the last 45 days
inline constexpr int64_t kSpeedMax = 1'000;

struct Settings {
  std::string socket;  // the control socket of the server
  int64_t days = 30;   // 0 to kDaysMax
  int64_t speed = 1;   // minutes of the evening in a minute, 1 to kSpeedMax
  uint64_t seed = 1;
  // True ends the play after the request under way.
  std::function<bool()> interrupted;
  // Gets each line for the person.
  std::function<void(const std::string& line)> say;
};

// Blocks until it is interrupted; the last line says what was done. A day that has orders is not
// written again. Refusal where another restaurant lives on the box.
void Play(const Settings& settings);

}  // namespace comanda::play
