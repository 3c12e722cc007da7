#pragma once

// Lists compressed without compressing them each time. Rows have stable neighbours: a new order
// moves all others of a page down, and changes but the text in front of one of them. So each row is
// deflated as what follows the row before it, which it may refer to, and kept; a page is joined
// from that.

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/gzip.h"

namespace comanda::http {

// Any thread.
class PieceStore {
 public:
  explicit PieceStore(size_t bytes_max) : bytes_max_(bytes_max) {}

  // {"data":[rows]tail as one gzip file. The name of a row says all that its text depends on;
  // read(index) gives that text, asked for where a piece is missing. Empty where most rows were
  // never met in this order: what is asked for but once is better compressed as a whole.
  std::string Join(std::span<const std::string> names, std::string_view tail,
                   const std::function<std::string(size_t)>& read);

 private:
  using Piece = std::shared_ptr<const DeflatedPiece>;  // null: met, not yet deflated
  using Pieces = std::unordered_map<std::string, Piece>;

  // Nothing where most are met for the first time.
  std::optional<std::vector<Piece>> Find(std::span<const std::string> keys);
  Piece Make(size_t row, const std::string& key, const std::function<std::string(size_t)>& read);
  void Keep(const std::string& key, Piece piece);  // with mutex_ held

  const size_t bytes_max_;
  std::mutex mutex_;
  // What was used lately, and what was before that: when the first are full, the others make room.
  Pieces late_, early_;    // guarded by mutex_
  size_t late_bytes_ = 0;  // guarded by mutex_
};

}  // namespace comanda::http
