#pragma once

// What a till knows of the demo restaurant, as the API shows it; and dice.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/zone.h"
#include "play/client.h"

namespace comanda::play {

struct ModifierGroup {
  bool is_required = false;
  std::vector<std::string> choices;  // {"modifier_id":…,"price":…}
};

struct Dish {
  std::vector<std::string> variants;  // {"product_id":…,"variant_id":…,"variant_price":…}
  std::vector<ModifierGroup> groups;
};

struct Restaurant {
  Days days;
  std::vector<std::vector<Dish>> courses;  // categories of the menu, in its order
  std::vector<std::string> tables;         // ids
  std::vector<std::string> guests;         // {"client_id":…,"address_id":…}
  std::vector<std::string> riders;         // "user_id":…,"name":…
};

// Refusal where no restaurant, or another one than the demo restaurant, lives on the box.
Restaurant ReadRestaurant(Client& client);

// Numbers that the seed and the name alone decide, on every machine (SplitMix64).
class Dice {
 public:
  Dice(uint64_t seed, std::string_view name);
  int64_t Between(int64_t least, int64_t most);
  bool Percent(int64_t percent) { return Between(1, 100) <= percent; }
  template <typename Row>
  const typename Row::value_type& OneOf(const Row& row) {
    return row[static_cast<size_t>(Between(0, static_cast<int64_t>(row.size()) - 1))];
  }

 private:
  uint64_t state_;
};

}  // namespace comanda::play
