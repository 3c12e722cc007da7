#include "delivery/catalogue.h"

#include <algorithm>

#include "base/file.h"
#include "base/log.h"
#include "delivery/embedded.h"
#include "delivery/provider_file.h"

namespace comanda::delivery {
namespace {

using Providers = Catalogue::Providers;

void Add(Providers& providers, std::vector<Provider> read, const std::string& file) {
  for (Provider& provider : read) {
    provider.file = file;
    std::erase_if(providers, [&](const auto& one) { return one->name == provider.name; });
    providers.push_back(std::make_shared<const Provider>(std::move(provider)));
  }
}

Providers BuiltIn() {
  Providers providers;
  for (const std::string_view text :
       {DeliveryHeroJson(), DidiJson(), IfoodJson(), KeetaJson(), RappiJson(), UberEatsJson()}) {
    Add(providers, ReadProviders(text), "");
  }
  Add(providers, ReadUnsupported(NotSupportedJson()), "");
  return providers;
}

// Nothing where the file is wrong, which is logged.
std::optional<std::vector<Provider>> ReadFrom(const std::string& path) {
  std::string text;
  try {
    text = ReadFile(path).value_or("");
    return ReadProviders(text);
  } catch (const Refusal& refusal) {
    for (const std::string& mistake : DescribeMistakes(text, refusal)) {
      log::Error("a file of a delivery app is not used", {{"file", path}, {"why", mistake}});
    }
  } catch (const Fault& fault) {
    log::Error("a file of a delivery app is not used", {{"file", path}, {"why", fault.cause}});
  }
  return std::nullopt;
}

}  // namespace

Catalogue::Catalogue(std::string data_directory)
    : directory_(std::move(data_directory) + "/providers.d") {
  Reload();
}

std::vector<std::string> Catalogue::Reload() {
  static const Providers kBuiltIn = BuiltIn();
  Providers providers = kBuiltIn;
  const Providers before = All();
  ReadDirectory(providers, before);
  std::ranges::sort(providers, {}, [](const auto& one) -> const std::string& { return one->name; });
  std::vector<std::string> changed;
  for (const auto& provider : providers) {
    const auto is_same = [&](const auto& one) { return *one == *provider; };
    if (std::ranges::none_of(before, is_same)) changed.push_back(provider->name);
  }
  const std::lock_guard lock(mutex_);
  providers_ = std::move(providers);
  return changed;
}

void Catalogue::ReadDirectory(Providers& providers, const Providers& before) const {
  auto files = FilesIn(directory_).value_or(std::vector<std::string>{});
  std::ranges::sort(files);
  for (const std::string& file : files) {
    if (!file.ends_with(".json")) continue;
    auto read = ReadFrom(directory_ + "/" + file);
    if (!read) {
      read.emplace();
      for (const auto& one : before) {
        if (one->file == file) read->push_back(*one);
      }
    }
    Add(providers, *std::move(read), file);
  }
}

Providers Catalogue::All() const {
  const std::lock_guard lock(mutex_);
  return providers_;
}

Providers Catalogue::Of(std::string_view country) const {
  Providers providers = All();
  std::erase_if(providers, [&](const auto& one) { return !one->IsIn(country); });
  return providers;
}

std::shared_ptr<const Provider> Catalogue::Find(std::string_view name) const {
  for (const auto& provider : All()) {
    if (provider->name == name) return provider;
  }
  return nullptr;
}

}  // namespace comanda::delivery
