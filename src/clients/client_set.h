#pragma once

// Some of a company's clients, as a bit for each created_seq.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace comanda::clients {

class ClientSet {
 public:
  void Add(int64_t seq) {
    if (WordOf(seq) >= words_.size()) words_.resize(WordOf(seq) + 1);
    words_[WordOf(seq)] |= BitOf(seq);
  }
  bool Has(int64_t seq) const {
    return WordOf(seq) < words_.size() && (words_[WordOf(seq)] & BitOf(seq)) != 0;
  }
  int64_t Count() const {
    int64_t count = 0;
    for (const uint64_t word : words_) count += std::popcount(word);
    return count;
  }
  std::vector<int64_t> Members() const {
    std::vector<int64_t> seqs;
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t rest = words_[i]; rest != 0; rest &= rest - 1) {
        seqs.push_back(static_cast<int64_t>(i * kBits) + std::countr_zero(rest));
      }
    }
    return seqs;
  }

  // Keeps those that are in the other one too.
  void Intersect(const ClientSet& other) {
    words_.resize(std::min(words_.size(), other.words_.size()));
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }
  // Keeps those up to that number.
  void KeepUpTo(int64_t seq) {
    if (WordOf(seq) >= words_.size()) return;
    words_.resize(WordOf(seq) + 1);
    words_.back() &= BitOf(seq) | (BitOf(seq) - 1);
  }

 private:
  static constexpr size_t kBits = 64;
  static size_t WordOf(int64_t seq) { return static_cast<size_t>(seq) / kBits; }
  static uint64_t BitOf(int64_t seq) { return uint64_t{1} << (static_cast<size_t>(seq) % kBits); }

  std::vector<uint64_t> words_;
};

}  // namespace comanda::clients
