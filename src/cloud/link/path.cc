#include "cloud/link/path.h"

#include "base/concat.h"
#include "wire/percent.h"

namespace comanda::cloud {

std::string OrderPath(std::string_view cloud_id) {
  return "/v1/orders/" + wire::PercentEncoded(cloud_id);
}

std::string PerPage(int64_t rows) { return rows == 0 ? "" : Concat({"&per_page=", rows}); }

}  // namespace comanda::cloud
