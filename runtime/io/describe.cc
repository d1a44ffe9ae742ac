#include "runtime/io/files_of_values.h"

namespace hopline {

namespace {

std::string shown(const std::string& v) { return quote(v); }
std::string shown(bool v) { return v ? "TRUE" : "FALSE"; }
std::string shown(int64_t v) { return std::to_string(v); }
std::string shown(double v) { return fmt::format("{}", v); }
std::string shown(const std::vector<std::string>& v) {
  std::string out;
  for (const std::string& text : v) out += (out.empty() ? "" : ", ") + quote(text);
  return out;
}

// The argument where there is one, else what the .mtd says; both and different is an error.
template <class T>
std::optional<T> one_of(const FilePlace& place, const std::string& path, std::string_view name,
                        const std::optional<T>& argument, const std::optional<T>& metadata) {
  if (argument && metadata && *argument != *metadata)
    place.fail("argument {} of read contradicts the metadata: expected {}, found {} ({}.mtd)", name, shown(*metadata),
               shown(*argument), path);
  return argument ? argument : metadata;
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

std::optional<std::string> lower(const std::optional<std::string>& text) {
  return text ? std::optional(lower(*text)) : std::nullopt;
}

Kind scalar_kind(std::string_view type) {
  for (const std::string_view t : {"double", "fp64", "fp32", "float"})
    if (type == t) return Kind::real;
  for (const std::string_view t : {"int", "integer", "int64", "int32", "long"})
    if (type == t) return Kind::integer;
  if (type == "boolean" || type == "bool") return Kind::boolean;
  return type == "string" ? Kind::string : Kind::unknown;
}

Kind kind_of_types(const FilePlace& place, const std::string& data_type, const std::string& value_type,
                   const std::string& path) {
  if (data_type == "frame") return Kind::frame;
  if (data_type == "list") return Kind::list;
  const Kind cell = scalar_kind(value_type);
  const bool other_number = value_type.starts_with("uint") || value_type.starts_with("int");
  if (data_type == "scalar") {
    if (cell == Kind::unknown)
      place.fail("unknown value_type of a scalar: expected int, double, boolean or string, found {} ({})",
                 quote(value_type), path);
    return cell;
  }
  if (data_type != "matrix")
    place.fail("unknown data_type: expected matrix, scalar, frame or list, found {} ({})", quote(data_type), path);
  if (cell == Kind::string || (cell == Kind::unknown && !other_number))
    place.fail("a matrix holds numbers: expected value_type double, found {} ({})", quote(value_type), path);
  return Kind::matrix;
}

std::optional<Format> format_of(const FilePlace& place, const std::string& path, const Metadata& arguments,
                                const std::optional<Metadata>& metadata) {
  std::optional<Format> argument;
  if (arguments.format) {
    argument = format_named(*arguments.format);
    if (!argument) place.fail("unknown format: expected one of {}, found {}", format_names(), quote(*arguments.format));
    if (argument == Format::csv || argument == Format::text) return argument;  // wins over the .mtd
  }
  if (!metadata || !metadata->format) return argument;
  const std::optional<Format> known = format_named(*metadata->format);
  if (!known)
    place.fail("unknown format: expected one of {}, found {} ({}.mtd)", format_names(), quote(*metadata->format), path);
  if (argument && argument != known)
    place.fail("argument format of read contradicts the metadata: expected {}, found {} ({}.mtd)",
               quote(*metadata->format), quote(*arguments.format), path);
  return known;
}

}  // namespace

FileDescription describe_file(const FilePlace& place, const std::string& path, const Metadata& arguments) {
  return describe_file(place, path, arguments, read_metadata(place, path));
}

FileDescription describe_file(const FilePlace& place, const std::string& path, const Metadata& arguments,
                              const std::optional<Metadata>& metadata) {
  const Metadata none, &m = metadata ? *metadata : none;
  FileDescription out;
  out.format = format_of(place, path, arguments, metadata);
  const auto data_type = one_of(place, path, "data_type", lower(arguments.data_type), lower(m.data_type));
  const auto value_type = one_of(place, path, "value_type", lower(arguments.value_type), lower(m.value_type));
  const Kind kind = kind_of_types(place, data_type.value_or("matrix"), value_type.value_or("double"), path);
  FileOptions& options = out.options;
  options.rows = one_of(place, path, "rows", arguments.rows, m.rows).value_or(-1);
  options.cols = one_of(place, path, "cols", arguments.cols, m.cols).value_or(-1);
  options.nnz = one_of(place, path, "nnz", arguments.nnz, m.nnz).value_or(-1);
  const auto separator = one_of(place, path, "sep", arguments.separator, m.separator);
  out.separator_given = separator.has_value();
  options.separator = separator.value_or(",");
  options.index_separator = one_of(place, path, "indSep", arguments.index_separator, m.index_separator).value_or(":");
  options.header = one_of(place, path, "header", arguments.header, m.header).value_or(false);
  options.fill = one_of(place, path, "fill", arguments.fill, m.fill).value_or(true);
  options.fill_value = one_of(place, path, "default", arguments.fill_value, m.fill_value).value_or(0);
  options.na_strings =
      one_of(place, path, "naStrings", arguments.na_strings, m.na_strings).value_or(std::vector<std::string>());
  out.count_checked = options.fill_value == 0 && options.na_strings.empty();
  out.meta = {kind, -1, -1, -1, -1};
  if (kind == Kind::matrix || kind == Kind::frame) out.meta.rows = options.rows, out.meta.cols = options.cols;
  if (kind == Kind::list) out.meta.rows = options.rows, out.meta.cols = 1;
  return out;
}

}  // namespace hopline
