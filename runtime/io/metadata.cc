#include "runtime/io/metadata.h"

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

namespace hopline {

namespace {

using Json = nlohmann::json;

constexpr size_t kMostBytes = 1 << 20;

struct Source {
  const FilePlace& job;
  const std::string& name;
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    job.fail("bad metadata: {} ({})", fmt::format(text, std::forward<Args>(args)...), name);
  }
};

std::string found(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

std::string text_of(const Source& at, const std::string& key, const Json& value) {
  if (!value.is_string()) at.fail("expected a string for \"{}\", found {}", key, found(value));
  return value.get<std::string>();
}

bool flag_of(const Source& at, const std::string& key, const Json& value) {
  if (!value.is_boolean()) at.fail("expected true or false for \"{}\", found {}", key, found(value));
  return value.get<bool>();
}

double number_of(const Source& at, const std::string& key, const Json& value) {
  if (!value.is_number()) at.fail("expected a number for \"{}\", found {}", key, found(value));
  return value.get<double>();
}

std::optional<int64_t> size_of(const Source& at, const std::string& key, const Json& value) {
  const bool whole = value.is_number_integer() && !(value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX);
  if (!whole || value.get<int64_t>() < -1)
    at.fail("expected a whole number of at least 0 (or -1: unknown) for \"{}\", found {}", key, found(value));
  const auto n = value.get<int64_t>();
  return n < 0 ? std::nullopt : std::optional<int64_t>(n);
}

std::vector<std::string> texts_of(const Source& at, const std::string& key, const Json& value) {
  if (!value.is_array()) return split_na_strings(text_of(at, key, value));
  std::vector<std::string> out;
  for (const Json& entry : value) out.push_back(text_of(at, key, entry));
  return out;
}

using Setter = void (*)(const Source&, const std::string& key, const Json&, Metadata&);

struct Key {
  std::string_view name;
  Setter set;  // null: accepted without effect
};

// clang-format off
constexpr Key kKeys[] = {
    {"data_type", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.data_type = text_of(at, k, v); }},
    {"value_type", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.value_type = text_of(at, k, v); }},
    {"schema", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.schema = text_of(at, k, v); }},
    {"rows", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.rows = size_of(at, k, v); }},
    {"cols", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.cols = size_of(at, k, v); }},
    {"nnz", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.nnz = size_of(at, k, v); }},
    {"rows_in_block", nullptr},
    {"cols_in_block", nullptr},
    {"format", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.format = text_of(at, k, v); }},
    {"description", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.description = text_of(at, k, v); }},
    {"author", nullptr},
    {"created", nullptr},
    {"header", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.header = flag_of(at, k, v); }},
    {"sep", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.separator = text_of(at, k, v); }},
    {"fill", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.fill = flag_of(at, k, v); }},
    {"default", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.fill_value = number_of(at, k, v); }},
    {"naStrings", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.na_strings = texts_of(at, k, v); }},
    {"na.strings", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.na_strings = texts_of(at, k, v); }},
    {"sparse", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.sparse = flag_of(at, k, v); }},
    {"indSep", [](const Source& at, const std::string& k, const Json& v, Metadata& m) { m.index_separator = text_of(at, k, v); }},
    {"privacy", nullptr},
};
// clang-format on

// The object, with a repeated key as an error: one of the two would silently win.
Json parse(const Source& at, const std::string& text) {
  std::set<std::string> seen;
  std::string repeated;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::key && depth == 1 && !seen.insert(value.get<std::string>()).second)
      repeated = value.get<std::string>();
    return true;
  };
  try {
    Json object = Json::parse(text, watch, true, true);
    if (!repeated.empty()) at.fail("key {} stands twice", quote(repeated));
    if (!object.is_object()) at.fail("expected a JSON object, found {}", object.type_name());
    return object;
  } catch (const Json::parse_error& error) {
    std::string_view what = error.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    what.remove_prefix(std::min(what.size(), what.find("] ") + 2));
    at.fail("{}", what);
  } catch (const Json::exception& error) {
    at.fail("{}", error.what());
  }
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace

std::vector<std::string> split_na_strings(const std::string& joined) {
  constexpr std::string_view kDot = "\u00b7";
  std::vector<std::string> out;
  for (size_t from = 0;;) {
    const size_t to = joined.find(kDot, from);
    out.push_back(joined.substr(from, to == std::string::npos ? to : to - from));
    if (to == std::string::npos) return out;
    from = to + kDot.size();
  }
}

std::optional<Metadata> parse_metadata(const FilePlace& job, const std::string& text, const std::string& name) {
  const Source at{job, name};
  const Json object = parse(at, text);
  Metadata out;
  for (const auto& [key, value] : object.items()) {
    const auto* row = std::find_if(std::begin(kKeys), std::end(kKeys), [&](const Key& k) { return k.name == key; });
    if (row == std::end(kKeys)) {
      std::string known;
      for (const Key& k : kKeys) known += (known.empty() ? "" : ", ") + std::string(k.name);
      at.fail("unknown key {}; known are {}", quote(key), known);
    }
    if (row->set != nullptr) row->set(at, key, value, out);
  }
  return out;
}

std::optional<Metadata> read_metadata(const FilePlace& job, const std::string& path) {
  std::string name = path + ".mtd";
  if (path_kind(name) == PathKind::missing) {  // a link may stand for a file with metadata beside it
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    if (error || path_kind(real.string() + ".mtd") == PathKind::missing) return std::nullopt;
    name = real.string() + ".mtd";
  }
  const InputFile file = open_input(job, name);
  std::string text(kMostBytes + 1, '\0');
  size_t used = 0;
  while (const size_t n = read_some(job, file, {text.data() + used, text.size() - used})) used += n;
  if (used > kMostBytes) job.fail("bad metadata: expected at most {} bytes ({})", kMostBytes, name);
  text.resize(used);
  return parse_metadata(job, text, name);
}

std::string metadata_text(const Meta& meta, Format format, const FileOptions& options, const std::string& description) {
  nlohmann::ordered_json out;
  const bool matrix = meta.kind == Kind::matrix;
  out["data_type"] = matrix || meta.kind == Kind::list ? std::string(name(meta.kind)) : "scalar";
  out["value_type"] = matrix ? "double" : meta.kind == Kind::list ? "unknown" : std::string(name(meta.kind));
  if (matrix || meta.kind == Kind::list) {
    out["rows"] = meta.rows;
    out["cols"] = meta.cols;
  }
  if (matrix) out["nnz"] = meta.nnz;
  out["format"] = format_name(format);
  if (matrix && format == Format::csv) {
    out["header"] = options.header;
    out["sep"] = options.separator;
  }
  if (matrix && format == Format::libsvm) {
    out["sep"] = options.separator;
    out["indSep"] = options.index_separator;
  }
  if (!description.empty()) out["description"] = description;
  out["author"] = "Hopline";
  out["created"] = now();
  return out.dump(4, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace hopline
