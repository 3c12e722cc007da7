#include "doctor/checks.h"

namespace comanda::doctor {
namespace {

// Bits of get_throttled, the firmware's report on a Raspberry Pi.
constexpr int64_t kUndervoltageNow = 1 << 0;
constexpr int64_t kUndervoltageSinceBoot = 1 << 16;
constexpr int64_t kFullCurrentMilliamperes = 5'000;

constexpr std::string_view kWhy =
    "The board may write wrong data or stop in the middle of an order.";
constexpr std::string_view kCommand =
    "vcgencmd get_throttled     # use the maker's power supply and a short cable";

// The answer of the firmware, as newer kernels show it; hexadecimal without a prefix.
std::optional<int64_t> Throttled(const Machine& machine) {
  const std::string drivers = "/sys/bus/platform/drivers/raspberrypi-firmware/";
  for (const std::string& device : machine.List(drivers)) {
    const std::string text = machine.Line(drivers + device + "/get_throttled");
    if (!text.empty()) return ParseNumber(text.starts_with("0x") ? text : "0x" + text);
  }
  return std::nullopt;
}

// The alarm of the driver rpi_volt: undervoltage at this moment.
std::optional<bool> Alarm(const Machine& machine) {
  for (const std::string& name : machine.List("/sys/class/hwmon")) {
    const std::string directory = "/sys/class/hwmon/" + name + "/";
    if (machine.Line(directory + "name") != "rpi_volt") continue;
    const auto alarm = machine.Number(directory + "in0_lcrit_alarm");
    if (alarm) return *alarm != 0;
  }
  return std::nullopt;
}

// What the supply of a Raspberry Pi 5 offers: a big-endian number of 32 bits.
std::optional<int64_t> OfferedMilliamperes(const Machine& machine) {
  const auto bytes = machine.Read("/proc/device-tree/chosen/power/max_current");
  if (!bytes || bytes->size() != 4) return std::nullopt;
  int64_t value = 0;
  for (const char byte : *bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

}  // namespace

Findings CheckPower(const Box& box) {
  const auto throttled = Throttled(box.machine);
  const auto alarm = Alarm(box.machine);
  if (alarm.value_or(false) || (throttled && (*throttled & kUndervoltageNow) != 0)) {
    return {Broken("The power supply is too weak: undervoltage now.", kWhy, kCommand)};
  }
  if (throttled && (*throttled & kUndervoltageSinceBoot) != 0) {
    return {Warning("The power supply is too weak: there was undervoltage since the start.", kWhy,
                    kCommand)};
  }
  const auto offered = OfferedMilliamperes(box.machine);
  if (offered && *offered > 0 && *offered < kFullCurrentMilliamperes) {
    return {Warning("The power supply offers " + std::to_string(*offered) + " mA of 5000 mA.",
                    "Disks on USB get too little current and drop out.", kCommand)};
  }
  if (throttled || alarm) return {Well("No undervoltage was seen.")};
  return {Well("This machine does not report its voltage.")};
}

}  // namespace comanda::doctor
