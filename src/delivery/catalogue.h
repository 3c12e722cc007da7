#pragma once

// The providers that are known: those built in, and those of DIR/providers.d, which add to them or
// replace the one of their name. Thread-safe.

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/provider.h"

namespace comanda::delivery {

class Catalogue {
 public:
  using Providers = std::vector<std::shared_ptr<const Provider>>;

  // Reads the directory. What is wrong with a file is logged, and the file left out.
  explicit Catalogue(std::string data_directory);

  // Reads the directory again. A file that is wrong now changes nothing: the provider that it gave
  // before stays. The names of the providers that are not as they were. Throws nothing.
  std::vector<std::string> Reload();

  // Sorted by name.
  Providers All() const;
  // Those of a country.
  Providers Of(std::string_view country) const;
  // Null: there is none of that name.
  std::shared_ptr<const Provider> Find(std::string_view name) const;

 private:
  void ReadDirectory(Providers& providers, const Providers& before) const;

  const std::string directory_;
  mutable std::mutex mutex_;
  Providers providers_;  // guarded by mutex_
};

}  // namespace comanda::delivery
