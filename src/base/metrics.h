#pragma once

// Counters, gauges and histograms, exported in the text format of Prometheus (contract section 16).
//
// A metric is a member of the object that it measures. It registers itself in a Registry and leaves
// it when destroyed, so the Registry must outlive it. Several metrics may share a name with
// different labels, but not with different types (CHECK). Updates are lock-free and may come from
// any thread; registering and exporting lock the Registry.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace comanda::metrics {

class Registry;

// A number that only grows. `labels` is the text between the braces, e.g. R"(class="2xx")", or
// empty.
class Counter {
 public:
  Counter(Registry& registry, std::string_view name, std::string_view help,
          std::string_view labels = {});
  ~Counter();
  void Add(uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  Registry& registry_;
  std::atomic<uint64_t> value_{0};
};

// A value that is read at each export by calling `read`, under the lock of the Registry: `read`
// must not create, destroy or export metrics, and must not block.
class Gauge {
 public:
  Gauge(Registry& registry, std::string_view name, std::string_view help,
        std::function<double()> read, std::string_view labels = {});
  Gauge(const Gauge&) = delete;
  Gauge& operator=(const Gauge&) = delete;
  ~Gauge();

 private:
  Registry& registry_;
};

// A distribution of durations: observed in microseconds, in fixed buckets from 100 us to 10 s,
// exported in seconds.
class Histogram {
 public:
  Histogram(Registry& registry, std::string_view name, std::string_view help,
            std::string_view labels = {});
  ~Histogram();
  // Negative durations count as 0.
  void ObserveUs(int64_t microseconds);

 private:
  friend class Registry;
  static constexpr std::array<int64_t, 12> kBoundsUs = {
      100, 250, 500, 1000, 2500, 5000, 10'000, 50'000, 100'000, 500'000, 1'000'000, 10'000'000};
  void AppendTo(std::string& out, const std::string& name, const std::string& labels) const;
  Registry& registry_;
  std::array<std::atomic<uint64_t>, kBoundsUs.size() + 1> buckets_{};
  std::atomic<uint64_t> sum_us_{0};
};

// The metrics of one process.
class Registry {
 public:
  // The body of /metrics: sorted by name, HELP and TYPE once for each name.
  std::string Text() const;

 private:
  friend class Counter;
  friend class Gauge;
  friend class Histogram;
  struct Entry {
    const void* owner;
    std::string name, help, type, labels;
    std::function<void(std::string& out, const std::string& own_name,
                       const std::string& own_labels)>
        append;
  };
  void Add(Entry entry);
  void Remove(const void* owner);

  mutable std::mutex mutex_;
  // Guarded by mutex_; sorted by name.
  std::vector<Entry> entries_;
};

}  // namespace comanda::metrics
