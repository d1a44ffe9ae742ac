#include "runtime/io/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>

#include "runtime/exec/session.h"

namespace hopline {

void FilePlace::poll() const {
  if (session != nullptr) session->poll(span);
}

int Descriptor::close() {
  if (fd_ < 0) return 0;
  const int failed = ::close(std::exchange(fd_, -1));
  return failed != 0 && errno != EINTR ? errno : 0;
}

std::string system_message(int error) {
  const char* text = strerrordesc_np(error);
  return text != nullptr ? text : fmt::format("error {}", error);
}

std::string quote(std::string_view text) {
  constexpr size_t kMost = 40;
  std::string out = "\"";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  if (text.size() > kMost) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();
    if (static_cast<unsigned char>(out.back()) >= 0xC0) out.pop_back();
    out += "...";
  }
  return out + "\"";
}

std::string local_path(const FilePlace& job, std::string_view name, FileAccess access) {
  const char* verb = access == FileAccess::read ? "read" : "write";
  std::string_view path = name;
  if (path.starts_with("file:")) {
    path.remove_prefix(5);
    if (path.starts_with("///")) path.remove_prefix(2);
  } else if (const size_t colon = path.find("://"); colon != path.npos && path.find('/') > colon) {
    job.fail("cannot {} {}: only local files are supported", verb, quote(name));
  }
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  if (path.empty()) job.fail("cannot {}: the file name is empty", verb);
  if (path.find('\0') != path.npos) job.fail("cannot {} {}: the file name holds a zero byte", verb, quote(name));
  return std::string(path);
}

PathKind path_kind(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return PathKind::missing;
  if (S_ISREG(info.st_mode)) return PathKind::regular;
  return S_ISDIR(info.st_mode) ? PathKind::folder : PathKind::special;
}

InputFile open_input(const FilePlace& job, const std::string& path) {
  InputFile file{Descriptor(), path};
  while (!(file.fd = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY))).open() && errno == EINTR)
    job.poll();
  if (!file.fd.open() && errno == ENOENT) job.fail("read input file does not exist: {}", path);
  if (!file.fd.open()) job.fail("cannot read {}: {}", path, system_message(errno));
  struct stat info;
  if (::fstat(file.fd.get(), &info) != 0) job.fail("cannot read {}: {}", path, system_message(errno));
  if (S_ISDIR(info.st_mode)) job.fail("cannot read {}: expected a file, found a folder", path);
  file.regular = S_ISREG(info.st_mode) && info.st_size > 0;  // those of /proc have a text, but no size
  file.size = file.regular ? info.st_size : 0;
  return file;
}

void read_at(const FilePlace& job, const InputFile& file, int64_t offset, std::span<char> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t n = ::pread(file.fd.get(), out.data() + done, out.size() - done, offset + static_cast<int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) job.fail("cannot read {}: {}", file.path, system_message(errno));
    if (n == 0) job.fail("cannot read {}: the file became shorter while it was read", file.path);
    done += static_cast<size_t>(n);
  }
  if (job.session != nullptr) job.session->bytes_read.fetch_add(static_cast<int64_t>(done), std::memory_order_relaxed);
}

size_t read_some(const FilePlace& job, const InputFile& file, std::span<char> out) {
  for (;;) {
    const ssize_t n = ::read(file.fd.get(), out.data(), out.size());
    if (n < 0 && errno == EINTR) {
      job.poll();
      continue;
    }
    if (n < 0) job.fail("cannot read {}: {}", file.path, system_message(errno));
    if (job.session != nullptr) job.session->bytes_read.fetch_add(n, std::memory_order_relaxed);
    return static_cast<size_t>(n);
  }
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Runs of digits compare as numbers, everything else by byte.
bool natural_less(std::string_view a, std::string_view b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const size_t i0 = std::min(a.find_first_not_of('0', i), a.size()),
                   j0 = std::min(b.find_first_not_of('0', j), b.size());
      size_t i1 = i0, j1 = j0;
      while (i1 < a.size() && is_digit(a[i1])) ++i1;
      while (j1 < b.size() && is_digit(b[j1])) ++j1;
      if (i1 - i0 != j1 - j0) return i1 - i0 < j1 - j0;
      const int order = a.substr(i0, i1 - i0).compare(b.substr(j0, j1 - j0));
      if (order != 0) return order < 0;
      i = i1, j = j1;
      continue;
    }
    if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
    ++i, ++j;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

}  // namespace

std::vector<std::string> folder_entries(const FilePlace& job, const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (folder == nullptr) job.fail("cannot read folder {}: {}", path, system_message(errno));
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) job.fail("cannot read folder {}: {}", path, system_message(errno));
  std::sort(names.begin(), names.end(), natural_less);
  return names;
}

std::vector<std::string> data_files(const FilePlace& job, const std::string& path) {
  const PathKind kind = path_kind(path);
  if (kind == PathKind::missing && errno != ENOENT) job.fail("cannot read {}: {}", path, system_message(errno));
  if (kind == PathKind::missing) job.fail("read input file does not exist: {}", path);
  if (kind != PathKind::folder) return {path};
  std::vector<std::string> files;
  for (const std::string& name : folder_entries(job, path)) {
    if (name.front() == '_' || name.front() == '.' || name.ends_with(".mtd")) continue;
    std::string file = path + "/" + name;
    if (path_kind(file) == PathKind::folder)
      job.fail("cannot read folder {}: expected part files, found a folder {}", path, name);
    files.push_back(std::move(file));
  }
  if (files.empty()) job.fail("cannot read folder {}: it holds no part files", path);
  return files;
}

}  // namespace hopline
