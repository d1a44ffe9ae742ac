#include "runtime/base/format_number.h"
#include "runtime/io/files_of_values.h"
#include "runtime/io/output.h"
#include "runtime/io/writers.h"
#include "runtime/ops/call.h"

namespace hopline {

namespace {

constexpr int kDeepestList = 64;

std::string scalar_text(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<int64_t>(&value)) return to_text(*whole);
  if (const auto* real = std::get_if<double>(&value)) return to_text(*real);
  return std::get<std::string>(value);
}

void write_bytes(Temporary& file, std::string_view text) { file.write({text.data(), text.size()}); }

void write_at_depth(const FileJob& job, const Value& value, const std::string& path, const WriteRequest& request,
                    int depth);

void fill_list_folder(const FileJob& job, const List& list, const std::string& folder, const WriteRequest& request,
                      int depth) {
  if (depth == kDeepestList) job.fail("cannot write a list of more than {} levels", kDeepestList);
  constexpr size_t kLongestName = 200;
  for (size_t i = 0; i < list.entries.size(); ++i) {
    const std::string name = list.names.empty() ? "null" : list.names[i];
    if (name.size() > kLongestName || name.find_first_of(std::string_view("/\0", 2)) != name.npos)
      job.fail("cannot write a list: the name of entry {} is no file name: {}", i + 1, quote(name));
    write_at_depth(job, list.entries[i], fmt::format("{}/{}_{}", folder, i, name), request, depth + 1);
  }
}

void write_at_depth(const FileJob& job, const Value& value, const std::string& path, const WriteRequest& request,
                    int depth) {
  const Target target = output_target(job, path);
  const auto* matrix = std::get_if<MatrixRef>(&value);
  const auto* list = std::get_if<ListRef>(&value);
  Meta meta = meta_of(value);
  if (meta.kind == Kind::frame) job.fail("frames are not supported yet: expected a matrix, scalar or list to write");
  if (list != nullptr && target.kind == PathKind::special)
    job.fail("cannot write a list to {}: expected a folder", path);
  Temporary data(job, target, list != nullptr ? Temporary::Type::folder : Temporary::Type::file);
  if (matrix != nullptr)
    write_matrix(job, **matrix, data, request.format, request.options);
  else if (list != nullptr)
    fill_list_folder(job, **list, data.path(), request, depth);
  else
    write_bytes(data, scalar_text(value));
  if (target.kind == PathKind::special || (matrix != nullptr && request.format == Format::matrix_market))
    return publish(job, data, nullptr);
  if (matrix != nullptr)
    meta.nnz = with_real(job.ctx, [&](auto zero) { return count_nnz<decltype(zero)>(job.ctx, **matrix); });
  Temporary metadata(job, {target.path + ".mtd", PathKind::regular}, Temporary::Type::file);
  const Format format = is_scalar(meta.kind) ? Format::text : request.format;
  write_bytes(metadata, metadata_text(meta, format, request.options, request.description));
  publish(job, data, &metadata);
}

}  // namespace

void write_value(const FileJob& job, const Value& value, const std::string& path, const WriteRequest& request) {
  write_at_depth(job, value, local_path(job, path, FileAccess::write), request, 0);
}

}  // namespace hopline
