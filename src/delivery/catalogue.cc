#include "delivery/catalogue.h"

#include <algorithm>

#include "base/file.h"
#include "base/log.h"
#include "delivery/embedded.h"
#include "delivery/provider_file.h"

namespace comanda::delivery {
namespace {

using Providers = Catalogue::Providers;

Providers BuiltIn() {
  Providers providers;
  for (const std::string_view text :
       {FoodNinetyNineJson(), DidiFoodJson(), FoodpandaJson(), IfoodJson(), KeetaJson(),
        PedidosyaJson(), RappiJson(), TalabatJson(), UberEatsJson()}) {
    providers.push_back(std::make_shared<const Provider>(ReadProvider(text)));
  }
  for (Provider& provider : ReadUnsupported(NotSupportedJson())) {
    providers.push_back(std::make_shared<const Provider>(std::move(provider)));
  }
  return providers;
}

void Put(Providers& providers, std::shared_ptr<const Provider> provider) {
  std::erase_if(providers, [&](const auto& one) { return one->name == provider->name; });
  providers.push_back(std::move(provider));
}

std::shared_ptr<const Provider> ReadFrom(const std::string& path, const std::string& name) {
  std::string text;
  try {
    text = ReadFile(path).value_or("");
    Provider provider = ReadProvider(text);
    provider.file = name;
    return std::make_shared<const Provider>(std::move(provider));
  } catch (const Refusal& refusal) {
    for (const std::string& mistake : DescribeMistakes(text, refusal)) {
      log::Error("a file of a delivery app is not used", {{"file", path}, {"why", mistake}});
    }
  } catch (const Fault& fault) {
    log::Error("a file of a delivery app is not used", {{"file", path}, {"why", fault.cause}});
  }
  return nullptr;
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
    std::shared_ptr<const Provider> provider = ReadFrom(directory_ + "/" + file, file);
    if (!provider) {
      const auto known = std::ranges::find(before, file, [](const auto& one) { return one->file; });
      if (known != before.end()) provider = *known;
    }
    if (provider) Put(providers, std::move(provider));
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
