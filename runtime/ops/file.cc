// read, readMM and write: arguments to and from runtime/io.
#include "runtime/io/files_of_values.h"
#include "runtime/ops/call.h"
#include "runtime/ops/families.h"
#include "runtime/ops/infer.h"

namespace hopline {

namespace {

enum ReadParam : size_t {
  kFile,
  kRows,
  kCols,
  kNnz,
  kFormat,
  kDataType,
  kValueType,
  kSchema,
  kRowsInBlock,
  kColsInBlock,
  kSep,
  kHeader,
  kFill,
  kDefault,
  kNaStrings,
  kIndSep,
};

// The arguments of a read as far as they are known. value(i): the value of argument i, null when absent or unknown.
template <class Get>
Metadata read_arguments(const Get& value, const Span& span, const Op& op) {
  Metadata out;
  const auto text = [&](size_t i, std::optional<std::string>& to) {
    if (const Value* v = value(i)) to = std::get<std::string>(*v);
  };
  const auto number = [&](const Value& v) {
    if (const auto* whole = std::get_if<int64_t>(&v)) return static_cast<double>(*whole);
    if (const auto* flag = std::get_if<bool>(&v)) return *flag ? 1.0 : 0.0;
    return std::get<double>(v);
  };
  const auto size = [&](size_t i, std::optional<int64_t>& to) {
    const Value* v = value(i);
    if (v == nullptr) return;
    const auto* whole = std::get_if<int64_t>(v);
    const int64_t n = whole != nullptr ? *whole : to_integer(number(*v));
    if (n < -1)
      fail(span, "argument {} of {}: expected a size of at least 0, found {}", op.params.list[i].name, op.name, n);
    if (n >= 0) to = n;
  };
  const auto flag = [&](size_t i, std::optional<bool>& to) {
    if (const Value* v = value(i)) to = number(*v) != 0;
  };
  size(kRows, out.rows), size(kCols, out.cols), size(kNnz, out.nnz);
  text(kFormat, out.format), text(kDataType, out.data_type), text(kValueType, out.value_type),
      text(kSchema, out.schema);
  text(kSep, out.separator), text(kIndSep, out.index_separator);
  flag(kHeader, out.header), flag(kFill, out.fill);
  if (const Value* v = value(kDefault)) out.fill_value = number(*v);
  return out;
}

std::vector<std::string> na_strings(const Call& call) {
  if (call.kind(kNaStrings) == Kind::string) return split_na_strings(call.string(kNaStrings));
  std::vector<std::string> out;
  for (const Value& entry : std::get<ListRef>(*call.in[kNaStrings])->entries) {
    const auto* text = std::get_if<std::string>(&entry);
    if (text == nullptr) call.fail("argument naStrings of read: expected strings, found a {}", name(kind_of(entry)));
    out.push_back(*text);
  }
  return out;
}

Format known_format(const Span& span, const std::string& name) {
  const std::optional<Format> format = format_named(name);
  if (!format) fail(span, "unknown format: expected one of {}, found {}", format_names(), quote(name));
  return *format;
}

void read_infer(InferCall& call) {
  Metadata arguments = read_arguments([&](size_t i) { return call.in[i].kind == Kind::none ? nullptr : call.value(i); },
                                      call.span, call.op);
  Meta& out = call.out[0];
  out = {Kind::matrix, arguments.rows.value_or(-1), arguments.cols.value_or(-1), -1, -1};
  const FilePlace place{call.span};
  if (arguments.format) known_format(call.span, *arguments.format);
  if (arguments.data_type) {
    out = describe_file(place, "", arguments, std::nullopt).meta;
    if (out.kind == Kind::frame) call.fail("frames are not supported yet: expected data_type matrix, scalar or list");
  }
  const std::optional<std::string> file = call.string(kFile);
  if (!file) return;
  try {
    out = describe_file(place, local_path(place, *file, FileAccess::read), arguments).meta;
  } catch (const Error&) {
    // The file may not have been written yet; what is wrong is said when it is read.
  }
}

void read_file(Call& call) {
  Metadata arguments =
      read_arguments([&](size_t i) -> const Value* { return call.has(i) ? call.in[i] : nullptr; }, call.span, call.op);
  if (call.has(kNaStrings)) arguments.na_strings = na_strings(call);
  call.out[0] = read_value({call.ctx, call.span}, call.string(kFile), arguments);
}

void read_mm_infer(InferCall& call) { call.out[0] = matrix_meta(-1, -1); }

void read_mm(Call& call) {
  Metadata arguments;
  arguments.format = "mm";
  call.out[0] = read_value({call.ctx, call.span}, call.string(0), arguments);
}

enum WriteParam : size_t {
  kX,
  kTarget,
  kOutFormat,
  kOutHeader,
  kOutSep,
  kSparse,
  kDescription,
  kOutRowsInBlock,
  kOutColsInBlock,
  kOutIndSep,
};

void write_infer(InferCall& call) {
  if (call.in[kX].kind == Kind::frame)
    call.fail("frames are not supported yet: expected a matrix, scalar or list to write");
  if (const auto format = call.string(kOutFormat)) known_format(call.span, *format);
}

void write_file(Call& call) {
  WriteRequest request;
  request.format = known_format(call.span, call.string(kOutFormat));
  request.options.header = call.boolean(kOutHeader);
  request.options.sparse = call.boolean(kSparse);
  request.options.separator = call.has(kOutSep) ? call.string(kOutSep) : request.format == Format::libsvm ? " " : ",";
  request.options.index_separator = call.string(kOutIndSep);
  request.description = call.string(kDescription);
  write_value({call.ctx, call.span}, *call.in[kX], call.string(kTarget), request);
}

constexpr Kernel kReadKernels[] = {{"file", nullptr, read_file}};
constexpr Kernel kReadMmKernels[] = {{"file", nullptr, read_mm}};
constexpr Kernel kWriteKernels[] = {{"file", nullptr, write_file}};

constexpr Laws kFileRead = {.purity = Purity::effect, .failure = Failure::by_data, .size_from_data = true};

constexpr Op kOps[] = {
    {.name = "read",
     .params = Params{param::text("file"), param::optional("rows", kNumber), param::optional("cols", kNumber),
                      param::optional("nnz", kNumber), param::optional("format", kString),
                      param::optional("data_type", kString), param::optional("value_type", kString),
                      param::optional("schema", kString), param::optional("rows_in_block", kNumber),
                      param::optional("cols_in_block", kNumber), param::optional("sep", kString),
                      param::optional("header", kNumber), param::optional("fill", kNumber),
                      param::optional("default", kNumber), param::optional("naStrings", kString | kList),
                      param::optional("indSep", kString)}
                   .by(Naming::first_free),
     .laws = kFileRead,
     .infer = read_infer,
     .kernels = kReadKernels,
     .doc =
         "The matrix, scalar or list in a file or a folder of part files; its .mtd, name or content says the format.",
     .example = "X = matrix(\"1 2 3 4\", rows=2, cols=2)\nwrite(X, \"example_read.csv\", format=\"csv\")\n"
                "print(sum(read(\"example_read.csv\")))  # expect: 10.0"},
    {.name = "readMM",
     .params = Params{param::text("file")}.by(Naming::first_free),
     .laws = kFileRead,
     .infer = read_mm_infer,
     .kernels = kReadMmKernels,
     .doc = "The matrix in a Matrix Market file.",
     .example = "X = matrix(\"1 0 0 4\", rows=2, cols=2)\nwrite(X, \"example_read.mtx\", format=\"mm\")\n"
                "print(sum(readMM(\"example_read.mtx\")))  # expect: 5.0"},
    {.name = "write",
     .params = Params{param::any("x"), param::text("file"), param::text("format", "\"text\""),
                      param::of("header", kNumber, "FALSE"), param::optional("sep", kString),
                      param::of("sparse", kNumber, "FALSE"), param::text("description", "\"\""),
                      param::optional("rows_in_block", kNumber), param::optional("cols_in_block", kNumber),
                      param::text("indSep", "\":\"")}
                   .by(Naming::first_free),
     .outputs = 0,
     .laws = {.purity = Purity::effect, .failure = Failure::by_data},
     .infer = write_infer,
     .kernels = kWriteKernels,
     .doc = "Writes a value to a file and its metadata to file.mtd; formats: csv, text, mm, libsvm, binary, npy, idx.",
     .example = "write(3.5, \"example_write\")\n"
                "print(read(\"example_write\", data_type=\"scalar\"))  # expect: 3.5"},
};

}  // namespace

OpFamily file_ops() { return kOps; }

}  // namespace hopline
