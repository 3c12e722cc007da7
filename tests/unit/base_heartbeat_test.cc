#include "base/heartbeat.h"

#include <gtest/gtest.h>

namespace comanda {
namespace {

class HandClock final : public Clock {
 public:
  UtcMs Now() const override { return now_ms; }
  int64_t MonotonicMs() const override { return now_ms; }
  int64_t now_ms = 1000;
};

TEST(Heartbeat, GoesStaleWithoutABeatAndRecoversWithOne) {
  HandClock clock;
  Heartbeats heartbeats(clock);
  Heartbeat writer(heartbeats, "writer", 500);
  Heartbeat network(heartbeats, "network", 5000);

  clock.now_ms += 500;
  EXPECT_TRUE(heartbeats.Stale().empty());
  clock.now_ms += 1;
  EXPECT_EQ(heartbeats.Stale(), std::vector<std::string>{"writer"});
  writer.Beat();
  EXPECT_TRUE(heartbeats.Stale().empty());
}

TEST(Heartbeat, OfAThreadThatEndedIsForgotten) {
  HandClock clock;
  Heartbeats heartbeats(clock);
  { Heartbeat gone(heartbeats, "gone", 1); }

  clock.now_ms += 1000;

  EXPECT_TRUE(heartbeats.Stale().empty());
}

}  // namespace
}  // namespace comanda
