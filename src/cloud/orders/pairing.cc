#include "cloud/orders/pairing.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"

namespace comanda::cloud {
namespace {

bool ShareAny(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::any_of(
      a, [&](const std::string& value) { return std::ranges::find(b, value) != b.end(); });
}

// True if one of the first `keys` keys has values on both sides, and none in common.
bool Contradicts(const KeyedRow& a, const KeyedRow& b, size_t keys) {
  for (size_t key = 0; key < keys; ++key) {
    if (a.keys[key].empty() || b.keys[key].empty()) continue;
    if (!ShareAny(a.keys[key], b.keys[key])) return true;
  }
  return false;
}

class Matcher {
 public:
  Matcher(std::span<const KeyedRow> cloud, std::span<const KeyedRow> box)
      : cloud_(cloud), box_(box), is_used_(box.size(), false), pairs_(cloud.size()) {}

  std::vector<std::optional<size_t>> Match() && {
    MatchIds();
    const size_t keys = cloud_.empty() ? 0 : cloud_.front().keys.size();
    for (size_t key = 0; key < keys; ++key) MatchKey(key);
    return std::move(pairs_);
  }

 private:
  void MatchIds() {
    std::unordered_map<std::string_view, size_t> by_id;
    for (size_t i = 0; i < box_.size(); ++i) by_id.emplace(box_[i].id, i);
    for (size_t i = 0; i < cloud_.size(); ++i) {
      const auto found = by_id.find(cloud_[i].id);
      if (found != by_id.end()) Use(i, found->second);
    }
  }

  void MatchKey(size_t key) {
    std::unordered_map<std::string_view, std::vector<size_t>> by_value;
    for (size_t i = 0; i < box_.size(); ++i) {
      if (is_used_[i]) continue;
      for (const std::string& value : box_[i].keys[key]) by_value[value].push_back(i);
    }
    for (size_t i = 0; i < cloud_.size(); ++i) {
      for (const std::string& value : cloud_[i].keys[key]) {
        const auto found = by_value.find(value);
        if (found == by_value.end() || pairs_[i]) continue;
        const auto match = std::ranges::find_if(found->second, [&](size_t candidate) {
          return !is_used_[candidate] && !Contradicts(cloud_[i], box_[candidate], key);
        });
        if (match != found->second.end()) Use(i, *match);
      }
    }
  }

  void Use(size_t cloud, size_t box) {
    if (pairs_[cloud] || is_used_[box]) return;
    pairs_[cloud] = box;
    is_used_[box] = true;
  }

  const std::span<const KeyedRow> cloud_, box_;
  std::vector<bool> is_used_;
  std::vector<std::optional<size_t>> pairs_;
};

std::vector<std::string> OneValue(std::string value) {
  if (value.empty()) return {};
  return {std::move(value)};
}

}  // namespace

std::vector<std::optional<size_t>> Pair(std::span<const KeyedRow> cloud,
                                        std::span<const KeyedRow> box) {
  return Matcher(cloud, box).Match();
}

std::vector<std::string> NameKey(std::string_view name) { return OneValue(Folded(name)); }

std::vector<std::string> NameKey(std::string_view parent, std::string_view name) {
  if (name.empty()) return {};
  return {Folded(parent) + '\n' + Folded(name)};
}

std::vector<std::string> EmailKey(std::string_view email) {
  return OneValue(AsciiLower(Trimmed(email)));
}

std::vector<std::string> PhoneKey(std::string_view calling_code, std::string_view number) {
  std::string digits = Digits(number);
  if (digits.empty()) return {};
  return {Digits(calling_code) + digits};
}

std::vector<std::string> CodeKey(std::string_view code) { return OneValue(AsciiLower(code)); }

std::vector<std::string> SkuKey(std::string_view sku) {
  const std::string_view cut = TrimmedCode(sku);
  if (cut.empty()) return {};
  return {std::string(cut), '\n' + AsciiLower(cut)};
}

}  // namespace comanda::cloud
