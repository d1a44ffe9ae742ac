#include "runtime/io/unfinished.h"

#include <filesystem>
#include <mutex>
#include <set>

namespace hopline {

namespace {

struct Unfinished {
  std::mutex mutex;
  std::set<std::string> paths;
};

Unfinished& unfinished() {
  static auto* const all = new Unfinished;  // threads may write while the process ends
  return *all;
}

}  // namespace

void note_unfinished(const std::string& path) {
  const std::lock_guard lock(unfinished().mutex);
  unfinished().paths.insert(path);
}

void forget_unfinished(const std::string& path) {
  const std::lock_guard lock(unfinished().mutex);
  unfinished().paths.erase(path);
}

void remove_unfinished() {
  const std::unique_lock lock(unfinished().mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  std::error_code ignored;
  for (const std::string& path : unfinished().paths) std::filesystem::remove_all(path, ignored);
}

}  // namespace hopline
