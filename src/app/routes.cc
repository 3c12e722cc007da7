#include "app/routes.h"

#include "app/import_api.h"
#include "events/api.h"
#include "http/problem_pages.h"
#include "keys/api.h"
#include "menu/api.h"
#include "ops/health.h"
#include "orders/api.h"

namespace comanda::app {

std::vector<std::span<const http::Route>> AllRoutes() {
  return {
      ops::Routes(),  http::ProblemPageRoutes(), keys::Routes(), events::Routes(),
      menu::Routes(), orders::Routes(), ImportRoutes(),
  };
}

}  // namespace comanda::app
