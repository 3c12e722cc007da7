#include "base/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/check.h"
#include "base/decimal.h"

namespace comanda::metrics {
namespace {

constexpr int kMicrosecondDecimals = 6;

void AppendNumber(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else {
    // Not std::to_chars: its tables for floating point add 128 kB. 15 digits keep byte counts exact
    // and print 0.1 as 0.1.
    std::array<char, 32> text;
    const int length = std::snprintf(text.data(), text.size(), "%.15g", value);
    out.append(text.data(), static_cast<size_t>(length));
  }
}

// "name{labels,extra} "
void AppendSeries(std::string& out, std::string_view name, std::string_view labels,
                  std::string_view extra = {}) {
  out += name;
  if (!labels.empty() || !extra.empty()) {
    out.append("{").append(labels);
    if (!labels.empty() && !extra.empty()) out += ',';
    out.append(extra).append("}");
  }
  out += ' ';
}

void AppendHelp(std::string& out, std::string_view help) {
  for (const char c : help) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
}

}  // namespace

Counter::Counter(Registry& registry, std::string_view name, std::string_view help,
                 std::string_view labels)
    : registry_(registry) {
  registry_.Add({this, std::string(name), std::string(help), "counter", std::string(labels),
                 [this](std::string& out, const std::string& own_name, const std::string& own) {
                   AppendSeries(out, own_name, own);
                   out.append(std::to_string(value())).append("\n");
                 }});
}

Counter::~Counter() { registry_.Remove(this); }

Gauge::Gauge(Registry& registry, std::string_view name, std::string_view help,
             std::function<double()> read, std::string_view labels)
    : registry_(registry) {
  registry_.Add({this, std::string(name), std::string(help), "gauge", std::string(labels),
                 [read = std::move(read)](std::string& out, const std::string& own_name,
                                          const std::string& own) {
                   AppendSeries(out, own_name, own);
                   AppendNumber(out, read());
                   out += '\n';
                 }});
}

Gauge::~Gauge() { registry_.Remove(this); }

Histogram::Histogram(Registry& registry, std::string_view name, std::string_view help,
                     std::string_view labels)
    : registry_(registry) {
  registry_.Add({this, std::string(name), std::string(help), "histogram", std::string(labels),
                 [this](std::string& out, const std::string& own_name, const std::string& own) {
                   AppendTo(out, own_name, own);
                 }});
}

Histogram::~Histogram() { registry_.Remove(this); }

void Histogram::ObserveUs(int64_t microseconds) {
  const int64_t value = std::max<int64_t>(microseconds, 0);
  const auto bucket = std::ranges::lower_bound(kBoundsUs, value) - kBoundsUs.begin();
  buckets_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_us_.fetch_add(static_cast<uint64_t>(value), std::memory_order_relaxed);
}

void Histogram::AppendTo(std::string& out, const std::string& name,
                         const std::string& labels) const {
  uint64_t count = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    count += buckets_[i].load(std::memory_order_relaxed);
    std::string bound = "le=\"";
    if (i < kBoundsUs.size()) {
      AppendScaled(bound, kBoundsUs[i], kMicrosecondDecimals);
    } else {
      bound += "+Inf";
    }
    bound += '"';
    AppendSeries(out, name + "_bucket", labels, bound);
    out.append(std::to_string(count)).append("\n");
  }
  AppendSeries(out, name + "_sum", labels);
  AppendScaled(out, static_cast<int64_t>(sum_us_.load(std::memory_order_relaxed)),
               kMicrosecondDecimals);
  out += '\n';
  AppendSeries(out, name + "_count", labels);
  out.append(std::to_string(count)).append("\n");
}

std::string Registry::Text() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  std::string_view name;
  for (const Entry& entry : entries_) {
    if (entry.name != name) {
      name = entry.name;
      out.append("# HELP ").append(name).append(" ");
      AppendHelp(out, entry.help);
      out.append("\n# TYPE ").append(name).append(" ").append(entry.type).append("\n");
    }
    entry.append(out, entry.name, entry.labels);
  }
  return out;
}

void Registry::Add(Entry entry) {
  const std::lock_guard lock(mutex_);
  const auto after = std::ranges::upper_bound(entries_, entry.name, {}, &Entry::name);
  if (after != entries_.begin() && std::prev(after)->name == entry.name) {
    CHECK(std::prev(after)->type == entry.type, "one name is one type of metric");
  }
  entries_.insert(after, std::move(entry));
}

void Registry::Remove(const void* owner) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [owner](const Entry& entry) { return entry.owner == owner; });
}

}  // namespace comanda::metrics
