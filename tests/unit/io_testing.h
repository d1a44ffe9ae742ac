// A folder for a test's files, and reads and writes through the operator table.
#pragma once
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/unit/op_testing.h"

namespace hopline {

struct FileTest : OpTest {
  std::filesystem::path folder;

  FileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "hopline-io-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~FileTest() { std::filesystem::remove_all(folder); }

  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::string file(const std::string& name, const std::string& bytes, const std::string& metadata = "") {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << bytes;
    if (!metadata.empty()) std::ofstream(folder / (name + ".mtd")) << metadata;
    return path(name);
  }
  std::string bytes(const std::string& name) const {
    std::ifstream in(folder / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Names of the folder's entries, hidden ones included.
  std::vector<std::string> entries() const {
    std::vector<std::string> out;
    for (const auto& e : std::filesystem::directory_iterator(folder)) out.push_back(e.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }

  using Arguments = std::map<std::string, Value>;
  std::vector<Value> named(std::string_view op_name, std::vector<Value> first, const Arguments& rest) {
    const Op& row = *find_op(op_name);
    for (size_t i = first.size(); i < row.params.count; ++i) {
      const auto given = rest.find(std::string(row.params.list[i].name));
      first.push_back(given == rest.end() ? default_value(row.params.list[i]) : given->second);
    }
    return apply(ctx, row, std::move(first));
  }
  Value read(const std::string& file_name, const Arguments& rest = {}) {
    return named("read", {file_name}, rest).front();
  }
  MatrixRef read_matrix(const std::string& file_name, const Arguments& rest = {}) {
    return std::get<MatrixRef>(read(file_name, rest));
  }
  void write(const Value& x, const std::string& file_name, const Arguments& rest = {}) {
    named("write", {x, file_name}, rest);
  }

  // "2x3: 1 2 3 4 5 6"
  std::string shown(const Value& v) {
    const MatrixRef& m = std::get<MatrixRef>(v);
    std::string out = fmt::format("{}x{}:", m->rows(), m->cols());
    for (const double cell : cells(v)) out += fmt::format(" {}", cell);
    return out;
  }
  // What the error says; "" when there is none. File names are cut to those of the test's folder.
  template <class F>
  std::string error_of(const F& f) {
    try {
      f();
    } catch (const Error& error) {
      std::string text = error.what();
      for (size_t at; (at = text.find(folder.string() + "/")) != std::string::npos;)
        text.erase(at, folder.string().size() + 1);
      return text;
    }
    return "";
  }
  std::string read_error(const std::string& file_name, const Arguments& rest = {}) {
    return error_of([&] { read(file_name, rest); });
  }
};

}  // namespace hopline
