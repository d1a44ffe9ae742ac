#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/io/files_of_values.h"
#include "runtime/io/readers.h"
#include "runtime/io/tokens.h"
#include "runtime/ops/call.h"

namespace hopline {

namespace {

constexpr int kDeepestList = 64;

MatrixRef read_in_format(const FileJob& job, Text& text, Format format, const FileOptions& options) {
  switch (format) {
    case Format::csv:
      return read_csv(job, text, options);
    case Format::text:
      return read_text_cells(job, text, options);
    case Format::matrix_market:
      return read_matrix_market(job, text, options);
    case Format::libsvm:
      return read_libsvm(job, text, options);
    case Format::binary:
      return read_binary(job, text, options);
    case Format::npy:
      return read_npy(job, text, options);
    case Format::idx:
      return read_idx(job, text, options);
  }
  return nullptr;
}

MatrixRef read_matrix(const FileJob& job, const std::string& path, FileDescription& d) {
  Text text = open_text(job, data_files(job, path));
  if (!d.format) d.format = format_of_content(head(job, text.parts.front(), 16));
  if (!d.format) d.format = format_of_name(path);
  if (!d.format && (d.options.rows < 0 || d.options.cols < 0))
    job.fail("the format of {} is not known: expected {}.mtd beside it, a name like .csv or .mtx, or format=", path,
             path);
  const Format format = d.format.value_or(Format::text);
  if (!d.separator_given && format == Format::libsvm) d.options.separator = " ";
  if (!d.separator_given && format == Format::csv && (path.ends_with(".tsv") || path.find(".tsv.") != path.npos))
    d.options.separator = "\t";
  MatrixRef m = read_in_format(job, text, format, d.options);
  const int64_t wanted = d.count_checked && job.ctx.precision == Precision::f64 ? d.options.nnz : -1;
  const int64_t found =
      wanted < 0 ? -1 : with_real(job.ctx, [&](auto zero) { return count_nnz<decltype(zero)>(job.ctx, *m); });
  if (wanted != found)
    job.fail("file does not match its declared number of non-zeros: expected {}, found {} ({})", wanted, found, path);
  return m;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == text.npos ? std::string_view() : text.substr(first, last - first + 1);
}

Value parse_scalar(const FileJob& job, const std::string& line, Kind kind, const std::string& path) {
  if (kind == Kind::string) return line;
  const std::string_view text = trimmed(line);
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (kind == Kind::boolean && (lower == "true" || lower == "false")) return lower == "true";
  int64_t whole = 0;
  if (const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
      kind == Kind::integer && error == std::errc() && end == text.data() + text.size())
    return whole;
  double value = 0;
  const bool number = parse_any_number(text.data(), text.data() + text.size(), value) == text.data() + text.size();
  if (kind == Kind::real && number) return value;
  if (kind == Kind::integer && number && value == std::floor(value) && std::fabs(value) < 0x1p63)
    return static_cast<int64_t>(value);
  job.fail("bad scalar file: expected {} {}, found {} ({}:1)", kind == Kind::integer ? "an" : "a", name(kind),
           quote(text), path);
}

Value read_scalar(const FileJob& job, const std::string& path, Kind kind) {
  const Text text = open_text(job, data_files(job, path));
  std::string line;
  for (const TextPart& part : text.parts) {
    LineReader reader(job, part);
    if (reader.next(line, static_cast<size_t>(part.size))) return parse_scalar(job, line, kind, path);
  }
  if (kind == Kind::string) return std::string();
  job.fail("bad scalar file: expected a {}, found an empty file ({})", name(kind), path);
}

struct ListEntry {
  int64_t number = 0;
  std::string name, file;
};

// "INDEX_NAME" files of the folder, in the order of their indexes, which are 0, 1, 2, ...
std::vector<ListEntry> list_entries(const FileJob& job, const std::string& path) {
  std::vector<ListEntry> entries;
  for (const std::string& file : folder_entries(job, path)) {
    if (file.front() == '_' || file.front() == '.' || file.ends_with(".mtd")) continue;
    ListEntry entry;
    const auto [end, error] = std::from_chars(file.data(), file.data() + file.size(), entry.number);
    if (error != std::errc() || *end != '_' || file.front() == '-')
      job.fail("bad list folder: expected names like 0_null, found {} ({})", quote(file), path);
    entry.name = end + 1, entry.file = path + "/" + file;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const ListEntry& a, const ListEntry& b) { return a.number < b.number; });
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i].number != static_cast<int64_t>(i))
      job.fail("bad list folder: entry {} is missing or stands twice ({})", i, path);
  return entries;
}

Value read_at_depth(const FileJob& job, const std::string& path, const Metadata& arguments, int depth);

Value read_list(const FileJob& job, const std::string& path, const FileOptions& options, int depth) {
  if (depth == kDeepestList) job.fail("list is nested too deeply: expected at most {} levels ({})", kDeepestList, path);
  if (path_kind(path) != PathKind::folder) job.fail("cannot read a list: expected a folder ({})", path);
  const std::vector<ListEntry> entries = list_entries(job, path);
  if (options.rows >= 0 && options.rows != static_cast<int64_t>(entries.size()))
    job.fail("list does not match its declared length: expected {}, found {} ({})", options.rows, entries.size(), path);
  auto list = std::make_shared<List>();
  const bool named = std::any_of(entries.begin(), entries.end(), [](const ListEntry& e) { return e.name != "null"; });
  for (const ListEntry& entry : entries) {
    list->entries.push_back(read_at_depth(job, entry.file, {}, depth + 1));
    if (named) list->names.push_back(entry.name);
  }
  return ListRef(std::move(list));
}

Value read_at_depth(const FileJob& job, const std::string& path, const Metadata& arguments, int depth) {
  if (path_kind(path) == PathKind::missing) data_files(job, path);  // says that it is missing, whatever its .mtd holds
  FileDescription d = describe_file(job, path, arguments);
  if (d.meta.kind == Kind::list) return read_list(job, path, d.options, depth);
  if (d.meta.kind == Kind::frame)
    job.fail("frames are not supported yet: expected data_type matrix, scalar or list ({})", path);
  if (is_scalar(d.meta.kind)) return read_scalar(job, path, d.meta.kind);
  return read_matrix(job, path, d);
}

}  // namespace

Value read_value(const FileJob& job, const std::string& path, const Metadata& arguments) {
  return read_at_depth(job, local_path(job, path, FileAccess::read), arguments, 0);
}

}  // namespace hopline
