#include "base/version.h"
#include "doctor/checks.h"

namespace comanda::doctor {
namespace {

std::string NameOfMachine(const Machine& machine) {
  const std::string board = machine.Line("/proc/device-tree/model");
  if (!board.empty()) return board;
  const std::string product = machine.Line("/sys/class/dmi/id/product_name");
  if (!product.empty()) return machine.Line("/sys/class/dmi/id/sys_vendor") + " " + product;
  return "a machine that does not say what it is";
}

}  // namespace

Findings CheckProgram(const Box& box) {
  const Finding here =
      Well("comanda " + std::string(kVersion) + " on " + NameOfMachine(box.machine) + ", Linux " +
           box.machine.Line("/proc/sys/kernel/osrelease") + ".");
  if (!box.server || box.server->process == 0) return {here};
  const std::string running =
      box.machine.Target("/proc/" + std::to_string(box.server->process) + "/exe");
  if (!running.ends_with(" (deleted)")) return {here};
  return {
      here,
      Warning("The running server is the former program, which was replaced since its start.",
              "It does not have the corrections of the new program.", "systemctl restart comanda")};
}

}  // namespace comanda::doctor
