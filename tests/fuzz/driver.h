// What every fuzzer shares. With clang's libFuzzer build with -DHOPLINE_LIBFUZZER -fsanitize=fuzzer; without it fuzz()
// runs a corpus, every truncation of it, and random mutations.
#pragma once
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace hopline::tests {

inline std::string name_of_fuzzer;
inline std::string last_input;  // the input that runs, written to a file when it crashes

inline void keep_last(int) {
  if (std::FILE* out = std::fopen((name_of_fuzzer + ".crash").c_str(), "wb")) {
    std::fwrite(last_input.data(), 1, last_input.size(), out);
    std::fclose(out);
  }
  std::fprintf(stderr, "%s: the input is kept in %s.crash\n", name_of_fuzzer.c_str(), name_of_fuzzer.c_str());
  std::_Exit(1);
}

inline void run(const std::string& input) {
  last_input = input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

using Engine = std::mt19937_64;
inline size_t below(Engine& engine, size_t n) { return n == 0 ? 0 : engine() % n; }

inline void mutate(std::string& s, const std::vector<std::string>& corpus, std::span<const std::string_view> pieces,
                   Engine& engine) {
  const size_t at = below(engine, s.size() + 1);
  switch (below(engine, 7)) {
    case 0:
      if (at < s.size()) s[at] = static_cast<char>(engine());
      break;
    case 1:
      if (at < s.size()) s[at] = static_cast<char>(s[at] ^ 1 << below(engine, 8));
      break;
    case 2:
      s.insert(at, pieces[below(engine, pieces.size())]);
      break;
    case 3:
      s.erase(at, below(engine, 8));
      break;
    case 4:
      s.insert(at, s.substr(below(engine, s.size()), below(engine, 40)));
      break;
    case 5:
      s.resize(at);
      break;
    default: {
      const std::string& other = corpus[below(engine, corpus.size())];
      s = s.substr(0, at) + other.substr(below(engine, other.size()));
    }
  }
}

// main() of a fuzzer: NAME CORPUS [MUTATIONS] [SEED]. change(input, corpus, engine) makes one mutation.
template <class Change>
int fuzz(int count, char** words, const std::string& name, Change change) {
  name_of_fuzzer = name;
  if (count < 2) return std::fprintf(stderr, "usage: %s CORPUS [MUTATIONS] [SEED]\n", name.c_str()), 2;
  for (const int number : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL}) std::signal(number, keep_last);
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(words[1])) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  if (corpus.empty()) return std::fprintf(stderr, "%s: the corpus is empty\n", name.c_str()), 2;
  for (const std::string& input : corpus)
    for (size_t n = 0; n <= input.size(); ++n) run(input.substr(0, n));
  const long mutations = count > 2 ? std::atol(words[2]) : 20000;
  const uint64_t seed = count > 3 ? std::strtoull(words[3], nullptr, 10) : std::random_device{}();
  std::printf("%s: %zu files, %ld mutations, seed %llu\n", name.c_str(), corpus.size(), mutations,
              static_cast<unsigned long long>(seed));
  Engine engine(seed);
  for (long i = 0; i < mutations; ++i) {
    std::string input = corpus[below(engine, corpus.size())];
    for (size_t k = 1 + below(engine, 4); k > 0; --k) change(input, corpus, engine);
    run(input);
  }
  return 0;
}

// The same with mutations of bytes; `pieces` are inserted.
inline int fuzz_bytes(int count, char** words, const std::string& name, std::span<const std::string_view> pieces) {
  return fuzz(count, words, name, [pieces](std::string& input, const std::vector<std::string>& corpus, Engine& engine) {
    mutate(input, corpus, pieces, engine);
  });
}

}  // namespace hopline::tests
