#include "frontend/config/machine.h"

#include <charconv>
#include <vector>

#include "frontend/config/settings.h"
#include "runtime/base/error.h"

namespace hopline {
namespace {

// The pairs of a file, each to be taken once.
class Pairs {
 public:
  Pairs(std::string_view text, const std::string& name) : name_(name), pairs_(read_yaml_settings(text, name)) {}

  bool any(std::string_view start) const {
    for (const KeyValue& pair : pairs_)
      if (pair.key.starts_with(start)) return true;
    return false;
  }
  KeyValue take(const std::string& key) {
    for (size_t i = 0; i < pairs_.size(); ++i) {
      if (pairs_[i].key != key) continue;
      KeyValue out = pairs_[i];
      pairs_.erase(pairs_.begin() + static_cast<ptrdiff_t>(i));
      return out;
    }
    fail(ErrorKind::usage, {}, "{}: the machine profile lacks {}", name_, key);
  }
  double rate(const std::string& key) {
    const KeyValue pair = take(key);
    double value = 0;
    const auto [end, error] = std::from_chars(pair.value.data(), pair.value.data() + pair.value.size(), value);
    if (error != std::errc() || end != pair.value.data() + pair.value.size() || !(value > 0 && value < 1e30))
      fail(ErrorKind::usage, {}, "{}:{}: {}: expected a positive number, found '{}'", name_, pair.line, key,
           pair.value);
    return value;
  }
  int64_t bytes(const std::string& key) {
    const KeyValue pair = take(key);
    const int64_t value = parse_bytes(pair.value);
    if (value <= 0)
      fail(ErrorKind::usage, {}, "{}:{}: {}: expected a number of bytes such as 16GB, found '{}'", name_, pair.line,
           key, pair.value);
    return value;
  }
  void finish() const {
    if (!pairs_.empty())
      fail(ErrorKind::usage, {}, "{}:{}: unknown key '{}' in a machine profile", name_, pairs_[0].line, pairs_[0].key);
  }

 private:
  const std::string& name_;
  std::vector<KeyValue> pairs_;
};

void read_processor(Pairs& pairs, const std::string& where, ProcessorProfile& out) {
  out.flops_double = pairs.rate(where + "flops_double");
  out.flops_single = pairs.rate(where + "flops_single");
  out.memory_bandwidth = pairs.rate(where + "memory_bandwidth");
  out.operator_launch = pairs.rate(where + "operator_launch");
}

}  // namespace

MachineProfile read_machine_profile(std::string_view text, const std::string& name) {
  Pairs pairs(text, name);
  MachineProfile out;
  out.name = pairs.take("machine.name").value;
  read_processor(pairs, "machine.cpu.", out.cpu);
  if (pairs.any("machine.device.")) {
    DeviceProfile& device = out.device.emplace();
    read_processor(pairs, "machine.device.", device);
    device.transfer_bandwidth = pairs.rate("machine.device.transfer_bandwidth");
    device.transfer_latency = pairs.rate("machine.device.transfer_latency");
    device.capacity = pairs.bytes("machine.device.capacity");
  }
  pairs.finish();
  return out;
}

}  // namespace hopline
