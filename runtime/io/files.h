// Every file that a run reads is opened here: one place for access checks, counters and messages.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/ops/call.h"

namespace hopline {

class Session;

// Where in the script a file is wanted, and for which run (null while planning). Errors name the place.
struct FilePlace {
  Span span;
  Session* session = nullptr;
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    hopline::fail(ErrorKind::io, span, text, std::forward<Args>(args)...);
  }
  void poll() const;  // throws Error{interrupted} when the run was cancelled
};

// The same for readers and writers, which need memory and threads of the run.
struct FileJob : FilePlace {
  FileJob(Context& context, const Span& at) : FilePlace{at, context.session}, ctx(context) {}
  Context& ctx;
};

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  int close();  // 0, or the errno of close

 private:
  int fd_ = -1;
};

// An open file. `regular` files have a size and can be read at any offset; others (pipes, devices, empty ones) only in
// order.
struct InputFile {
  Descriptor fd;
  std::string path;
  int64_t size = 0;
  bool regular = true;
};

enum class FileAccess : uint8_t { read, write };
// The one gate for all opens: refuses other schemes than file: and whatever the session forbids. Returns the local path
// without scheme and trailing slashes.
std::string local_path(const FilePlace& job, std::string_view name, FileAccess access);

enum class PathKind : uint8_t { missing, regular, folder, special };
PathKind path_kind(const std::string& path);

// Missing, unreadable: Error{io}. A folder is no file.
InputFile open_input(const FilePlace& job, const std::string& path);
// Reads exactly the bytes [offset, offset + out.size()) of a regular file; a file that became shorter is an Error{io}.
void read_at(const FilePlace& job, const InputFile& file, int64_t offset, std::span<char> out);
// Reads up to out.size() bytes at the current position; 0 at the end.
size_t read_some(const FilePlace& job, const InputFile& file, std::span<char> out);

// The data files of a path: itself, or the parts of a folder (names not beginning with "_" or ".", no .mtd) in natural
// order ("2-m" before "10-m"). Missing path, folder without parts: Error{io}.
std::vector<std::string> data_files(const FilePlace& job, const std::string& path);
// Names of a folder's entries, hidden ones included, in natural order.
std::vector<std::string> folder_entries(const FilePlace& job, const std::string& path);

// "No such file or directory" for errno; not localised.
std::string system_message(int error);
// A text of the file for a message: quoted, cut after 40 bytes, bytes that are no printable ASCII or UTF-8 escaped.
std::string quote(std::string_view text);

}  // namespace hopline
