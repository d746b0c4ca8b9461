// replay FOLDER: a fuzz target without a fuzzer, on every file of a folder, then on 1500 changed
// copies of them, the same ones each time. The input that ended it is left in a file.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

/// Changes of a few bytes, of what the formats are made of, and of whole stretches.
class Mutator {
 public:
  explicit Mutator(const std::vector<std::string>& inputs) : inputs_(inputs) {}

  std::string next() {
    constexpr std::size_t kMostChanges = 6;
    constexpr std::size_t kLongest = 4096;
    std::string text = any();
    for (std::size_t n = 1 + below(kMostChanges); n > 0; --n) change(text);
    if (text.size() > kLongest) text.resize(kLongest);
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  const std::string& any() { return inputs_[below(inputs_.size())]; }

  void change(std::string& text) {
    using namespace std::string_view_literals;
    static constexpr std::array kTokens = {
        "="sv,      "."sv,      ","sv,    "\n"sv,   "\r\n"sv,   "\""sv,
        "'"sv,      "["sv,      "]"sv,    "{"sv,    "}"sv,      "#"sv,
        "-"sv,      "\0"sv,     "\xff"sv, "\t"sv,   "nan"sv,    "-inf"sv,
        "1e400"sv,  "1e-400"sv, "0x1"sv,  "true"sv, "\"\"\""sv, "log"sv,
        "n"sv,      "sweep"sv,  "1e21"sv, "-0"sv,   ">"sv,      "9223372036854775808"sv,
        "\\u0000"sv};
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(text.size() - at, 64) + 1);
    switch (below(5)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random_());
        break;
      case 1:
        text.insert(at, kTokens[below(kTokens.size())]);
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      default: {
        const std::string& other = any();
        text = text.substr(0, at) + other.substr(below(other.size() + 1));
      }
    }
  }

  const std::vector<std::string>& inputs_;
  std::mt19937_64 random_{1};  // NOLINT(cert-msc51-cpp): the same inputs at every commit
};

void try_one(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::vector<fs::path> files{fs::directory_iterator(argv[1]), {}};
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    try_one(inputs.back());
  }
  if (inputs.empty()) return 1;
  constexpr int kChanged = 1500;
  const fs::path last = "last-input-of-" + fs::path(argv[0]).filename().string();
  Mutator mutator(inputs);
  for (int k = 0; k < kChanged; ++k) {
    const std::string input = mutator.next();
    std::ofstream(last, std::ios::binary) << input;
    try_one(input);
  }
  fs::remove(last);
  std::printf("%zu inputs, %d changed ones\n", inputs.size(), kChanged);
  return 0;
}
