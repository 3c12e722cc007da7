#include "cloud/path.h"

#include "wire/percent.h"

namespace comanda::cloud {

std::string OrderPath(std::string_view cloud_id) {
  return "/v1/orders/" + wire::PercentEncoded(cloud_id);
}

}  // namespace comanda::cloud
