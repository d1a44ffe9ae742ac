// Cost profiles of machines: what conf/machines/*.yaml hold. Placement and recomputation weigh operators by them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hopline {

// Rates that kernels reach, in units per second; times in seconds.
struct ProcessorProfile {
  double flops_double = 0, flops_single = 0;  // per core on a CPU
  double memory_bandwidth = 0;                // bytes
  double operator_launch = 0;
};

struct DeviceProfile : ProcessorProfile {
  double transfer_bandwidth = 0;  // bytes, to and from the host
  double transfer_latency = 0;
  int64_t capacity = 0;  // bytes
};

struct MachineProfile {
  std::string name;
  ProcessorProfile cpu;
  std::optional<DeviceProfile> device;
};

// `name` is for messages. Throws Error{usage} with the line on anything that is missing, unknown or not positive.
MachineProfile read_machine_profile(std::string_view text, const std::string& name);

}  // namespace hopline
