#include "app/routes.h"

#include "app/device_codes_api.h"
#include "app/import_api.h"
#include "app/resume_api.h"
#include "app/sandbox_api.h"
#include "app/trust_pages.h"
#include "clients/api.h"
#include "cloud/api.h"
#include "company/api.h"
#include "delivery/api.h"
#include "events/api.h"
#include "keys/api.h"
#include "keys/devices_api.h"
#include "keys/pairing_api.h"
#include "kitchen/api.h"
#include "menu/api.h"
#include "ops/health.h"
#include "orders/api.h"
#include "reports/api.h"
#include "users/api.h"
#include "web/api.h"
#include "web/kitchen_page.h"
#include "web/problem_pages.h"
#include "webhooks/api.h"

namespace comanda::app {

std::vector<std::span<const http::Route>> AllRoutes(auth::Mode mode) {
  std::vector<std::span<const http::Route>> tables = {
      ops::Routes(),        web::ProblemPageRoutes(),
      keys::Routes(),       events::Routes(),
      company::Routes(),    menu::Routes(),
      clients::Routes(),    users::Routes(),
      orders::Routes(),     reports::Routes(),
      webhooks::Routes(),   delivery::Routes(),
      web::Routes(),        ImportRoutes(),
      ResumeRoutes(),       keys::PairingRoutes(),
      keys::DeviceRoutes(), PageRoutes(),
      kitchen::Routes(),    kitchen::StationRoutes(),
      DeviceCodeRoutes(),   web::KitchenPageRoutes(),
  };
  // The sandbox has no counterpart in the cloud, and asks no delivery app.
  if (mode == auth::Mode::kTest) {
    tables.push_back(SandboxRoutes());
  } else {
    tables.push_back(cloud::Routes());
    tables.push_back(delivery::ControlRoutes());
  }
  return tables;
}

}  // namespace comanda::app
