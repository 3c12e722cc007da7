#include "http/piece_store.h"

#include <utility>

#include "http/query.h"

namespace comanda::http {
namespace {

// A row behind the one before it, whatever stands there: the first has another key than the same
// row further down.
std::vector<std::string> KeysOf(std::span<const std::string> names) {
  std::vector<std::string> keys;
  keys.reserve(names.size());
  for (size_t row = 0; row < names.size(); ++row) {
    std::string& key = keys.emplace_back();
    if (row > 0) {
      key.reserve(names[row].size() + 1 + names[row - 1].size());
      key.append(names[row - 1]) += ' ';
    }
    key += names[row];
  }
  return keys;
}

}  // namespace

std::string PieceStore::Join(std::span<const std::string> names, std::string_view tail,
                             const std::function<std::string(size_t)>& read) {
  const std::vector<std::string> keys = KeysOf(names);
  const std::optional<std::vector<Piece>> pieces = Find(keys);
  if (!pieces) return {};
  size_t bytes = 0;
  for (const Piece& piece : *pieces) bytes += piece ? piece->bytes.size() : 0;
  GzipFile file(bytes + tail.size());
  file.AddPlain(kListHead);
  for (size_t row = 0; row < keys.size(); ++row) {
    const Piece& kept = (*pieces)[row];
    file.Add(kept ? *kept : *Make(row, keys[row], read));
  }
  file.AddPlain(tail);
  return std::move(file).Finish();
}

std::optional<std::vector<PieceStore::Piece>> PieceStore::Find(std::span<const std::string> keys) {
  std::vector<Piece> pieces;
  pieces.reserve(keys.size());
  size_t fresh = 0;
  const std::lock_guard lock(mutex_);
  for (const std::string& key : keys) {
    if (const auto found = late_.find(key); found != late_.end()) {
      pieces.push_back(found->second);
      continue;
    }
    const auto found = early_.find(key);
    if (found == early_.end()) ++fresh;
    pieces.push_back(found == early_.end() ? nullptr : std::move(found->second));
    Keep(key, pieces.back());
  }
  if (fresh * 2 >= keys.size()) return std::nullopt;
  return pieces;
}

PieceStore::Piece PieceStore::Make(size_t row, const std::string& key,
                                   const std::function<std::string(size_t)>& read) {
  const std::string before = row == 0 ? std::string() : read(row - 1);
  const std::string text = row == 0 ? read(row) : ',' + read(row);
  auto piece = std::make_shared<const DeflatedPiece>(DeflatePiece(before, text));
  const std::lock_guard lock(mutex_);
  Keep(key, piece);
  return piece;
}

void PieceStore::Keep(const std::string& key, Piece piece) {
  constexpr size_t kOverhead = 192;  // nodes, numbers
  late_bytes_ += key.size() + (piece ? piece->bytes.size() : 0) + kOverhead;
  late_.insert_or_assign(key, std::move(piece));
  if (late_bytes_ <= bytes_max_ / 2) return;
  early_ = std::exchange(late_, {});
  late_bytes_ = 0;
}

}  // namespace comanda::http
