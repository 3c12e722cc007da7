#pragma once

// Puts a text together from pieces: Concat({"table ", number, " of ", room.name}). Any thread.

#include <array>
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace comanda {

// A text, a character, or an integer in decimal. Refers to the text that it is made of.
class Piece {
 public:
  Piece(const char* text) : text_(text) {}
  Piece(std::string_view text) : text_(text) {}
  Piece(const std::string& text) : text_(text) {}
  Piece(char character) : digits_{character}, text_(digits_.data(), 1) {}
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) Piece(Integer value) {
    if constexpr (std::signed_integral<Integer>) {
      Write(static_cast<long long>(value));
    } else {
      Write(static_cast<unsigned long long>(value));
    }
  }
  // Its text may lie in the object itself.
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  std::string_view text() const { return text_; }

 private:
  void Write(long long value);
  void Write(unsigned long long value);

  std::array<char, 20> digits_;  // as many as the longest integer has, with its sign
  std::string_view text_;
};

std::string Concat(std::initializer_list<Piece> pieces);

}  // namespace comanda
