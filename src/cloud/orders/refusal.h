#pragma once

// What follows from the refusal of a step: a 4xx that a repetition would get again (Verdict
// kRefused, cloud/link/client.h). The cloud is any server that speaks the specification, whose
// problem documents have `type` and `errors[].field`; `code` is read where it is there. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/orders/step.h"
#include "json/reader.h"

namespace comanda::cloud {

enum class Remedy : uint8_t {
  kPark,       // nothing more of this order is sent until a person decides
  kGone,       // the cloud has the order no more: parked, too
  kFindOrder,  // its key placed an order before: look for the one with that reference
  kReadOrder,  // rows are not as expected: read the order and adopt those that match
  kReadAgain,  // the order is not as this box knows it: what differs is a new step
  kLeaveOut,   // a new step without the references or the date that the cloud does not accept
  kDrop,  // the order goes on without this step; one of the menu: DropPush (cloud/menu/menu_push.h)
};

struct Judgement {
  Remedy remedy = Remedy::kPark;
  std::vector<std::string> fields;  // of kLeaveOut: "client_id", "combos[0].product_id"
};

// `problem`: the body of the answer, of any form.
Judgement JudgeRefusal(StepKind kind, int status, std::string_view problem);

// Whether the step was refused for what has become of the order in the cloud since it was planned,
// as `record` shows it: it reports a delivery, and the order is closed in the cloud, or has a
// delivery status from which that one cannot be reached. The order goes on without the step.
bool IsOvertaken(const Step& step, json::Value record);

// The body of a step without those fields. `skus`: by such a field, the sku that names the item in
// its place. Fault kDamaged if the body is no JSON.
std::string Without(std::string_view body, const std::vector<std::string>& fields,
                    const std::map<std::string, std::string>& skus = {});

}  // namespace comanda::cloud
