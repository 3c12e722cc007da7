#pragma once

#include <string>
#include <vector>

namespace comanda::http {

// A display of the kitchen, for the list of devices: what it says of itself (contract section 20).
struct KeyDisplay {
  std::string key_id;
  std::string display;
  std::vector<std::string> stations;  // empty: all
  bool is_muted = false;
  bool is_awake = true;
  bool is_present = false;
};

}  // namespace comanda::http
