#include "runtime/io/output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <mutex>
#include <random>

#include "runtime/base/parallel.h"
#include "runtime/exec/session.h"
#include "runtime/io/text_buffer.h"
#include "runtime/io/unfinished.h"
#include "runtime/ops/call.h"

namespace hopline {

namespace {

namespace fs = std::filesystem;

// Unique among processes and within this one; hidden, so that a folder's reader does not take it for a part.
std::string temporary_name() {
  static std::atomic<uint64_t> number{0};
  static const uint32_t kRandom = std::random_device{}();
  return fmt::format(".hopline-{}-{:08x}-{}.tmp", getpid(), kRandom, number.fetch_add(1));
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Names that engines give to the parts of an output.
bool is_part_name(std::string_view name) {
  if (name.front() == '_' || name.front() == '.' || name.starts_with("part-")) return true;
  const size_t dash = name.find('-');
  if (dash == name.npos || !all_digits(name.substr(0, dash))) return false;
  const std::string_view rest = name.substr(dash);
  return (rest.starts_with("-m-") || rest.starts_with("-r-")) && all_digits(rest.substr(3));
}

// A folder may be replaced only where it is certainly an output.
void check_replaceable(const FileJob& job, const std::string& path) {
  if (path_kind(path + ".mtd") == PathKind::regular) return;
  bool parts = false;
  for (const std::string& name : folder_entries(job, path)) {
    if (!is_part_name(name) || path_kind(path + "/" + name) != PathKind::regular)
      job.fail("cannot write {}: a folder that is no earlier output stands there (it holds {})", path, quote(name));
    parts = parts || name.front() != '.';
  }
  if (!parts) job.fail("cannot write {}: a folder without part files and without .mtd stands there", path);
}

// Held while data and metadata are renamed, so that two runs do not mix theirs. Advisory; a file system without locks
// leaves the renames atomic one by one.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder) : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (fd_.open())
      while (::flock(fd_.get(), LOCK_EX) != 0 && errno == EINTR) {
      }
  }

 private:
  Descriptor fd_;
};

void rename_into_place(const FileJob& job, const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) job.fail("cannot write {}: {}", to, system_message(errno));
}

void remove_tree(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

}  // namespace

Target output_target(const FileJob& job, const std::string& path) {
  Target target{path, PathKind::missing};
  std::error_code error;
  if (fs::is_symlink(path, error)) {
    const fs::path real = fs::weakly_canonical(path, error);
    if (error) job.fail("cannot write {}: {}", path, system_message(error.value()));
    target.path = real.string();
  }
  target.kind = path_kind(target.path);
  if (target.kind == PathKind::folder) check_replaceable(job, target.path);
  if (target.kind != PathKind::missing) return target;
  const std::string folder = folder_of(target.path);
  fs::create_directories(folder, error);
  if (path_kind(folder) != PathKind::folder)
    job.fail("cannot write {}: {}", path, error ? system_message(error.value()) : folder + " is no folder");
  return target;
}

Temporary::Temporary(const FileJob& job, const Target& target, Type type) : job_(job), target_(target.path) {
  compression_ = compression_of_name(target_);
  if (target.kind == PathKind::special) {
    direct_ = true;
    fd_ = Descriptor(::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  } else {
    path_ = folder_of(target_) + "/" + temporary_name();
    note_unfinished(path_);
    if (type == Type::folder) {
      if (::mkdir(path_.c_str(), 0777) != 0) job.fail("cannot write {}: {}", target_, system_message(errno));
      return;
    }
    fd_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  }
  if (!fd_.open()) {
    const int error = errno;
    forget_unfinished(path_);
    path_.clear();
    job.fail("cannot write {}: {}", target_, system_message(error));
  }
  struct stat info;
  if (!direct_ && ::stat(target_.c_str(), &info) == 0 && S_ISREG(info.st_mode))
    ::fchmod(fd_.get(), info.st_mode & 0777);
}

Temporary::~Temporary() {
  fd_.close();
  if (path_.empty()) return;
  remove_tree(path_);
  forget_unfinished(path_);
}

void Temporary::write(std::span<const char> bytes) {
  TextBuffer packed(job_.ctx.memory);
  write_packed(compress(job_, compression_, bytes, packed));
}

void Temporary::write_packed(std::span<const char> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd_.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) {
      job_.poll();
      continue;
    }
    if (n < 0) job_.fail("cannot write {}: {}", target_, system_message(errno));
    done += static_cast<size_t>(n);
  }
  if (job_.session != nullptr)
    job_.session->bytes_written.fetch_add(static_cast<int64_t>(done), std::memory_order_relaxed);
}

void Temporary::finish() {
  if (const int error = fd_.close(); error != 0) job_.fail("cannot write {}: {}", target_, system_message(error));
}

void publish(const FileJob& job, Temporary& data, Temporary* metadata) {
  data.finish();
  if (metadata != nullptr) metadata->finish();
  if (data.direct_) return;
  const std::string& target = data.target_;
  const FolderLock lock(folder_of(target));
  const PathKind now = path_kind(target);
  const bool folder = path_kind(data.path_) == PathKind::folder;
  std::string aside;
  if (now == PathKind::folder || (folder && now != PathKind::missing)) {
    if (now == PathKind::folder) check_replaceable(job, target);
    aside = folder_of(target) + "/" + temporary_name();
    rename_into_place(job, target, aside);
  }
  if (std::rename(data.path_.c_str(), target.c_str()) != 0) {
    const int error = errno;
    if (!aside.empty()) std::rename(aside.c_str(), target.c_str());
    job.fail("cannot write {}: {}", target, system_message(error));
  }
  forget_unfinished(data.path_);
  data.path_.clear();
  if (metadata != nullptr) {
    rename_into_place(job, metadata->path_, metadata->target_);
    forget_unfinished(metadata->path_);
    metadata->path_.clear();
  } else {
    ::unlink((target + ".mtd").c_str());
  }
  if (!aside.empty()) remove_tree(aside);
}

namespace {

// Lets tasks pass in the order of their numbers; a failed one lets all others go without passing.
class Turns {
 public:
  bool wait(int64_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_ || next_ == number; });
    return !failed_;
  }
  void done() {
    const std::lock_guard lock(mutex_);
    ++next_;
    changed_.notify_all();
  }
  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t next_ = 0;
  bool failed_ = false;
};

}  // namespace

void write_pieces(const FileJob& job, Temporary& file, int64_t pieces, const FormatPiece& format) {
  Turns turns;
  parallel_for(pieces, job.ctx.threads, [&](int64_t piece) {
    try {
      job.poll();
      TextBuffer out(job.ctx.memory);
      const std::span<const char> bytes = format(piece, out);
      TextBuffer packed(job.ctx.memory);
      const std::span<const char> written = compress(job, file.compression(), bytes, packed);
      if (!turns.wait(piece)) return;
      file.write_packed(written);
    } catch (...) {
      turns.fail();
      throw;
    }
    turns.done();
  });
}

}  // namespace hopline
