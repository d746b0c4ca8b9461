#pragma once

// Slips that tests/mutants/random plants stand behind these switches.
//   ATTICA_SLIP=7         the seventh slip is made
//   ATTICA_SLIP_MET=FILE  which slips a run has met, written at its end
#include <array>
#include <cstdio>
#include <cstdlib>

namespace attica_slip {

struct Switches {
  int made = -1;
  std::array<bool, 4096> met{};

  Switches() {
    if (const char* number = std::getenv("ATTICA_SLIP")) made = std::atoi(number);
  }
  ~Switches() {
    const char* path = std::getenv("ATTICA_SLIP_MET");
    std::FILE* file = path ? std::fopen(path, "w") : nullptr;
    if (!file) return;
    for (std::size_t n = 0; n < met.size(); ++n) {
      if (met[n]) std::fprintf(file, "%zu\n", n);
    }
    std::fclose(file);
  }
};

inline Switches switches;

inline bool on(int n) {
  switches.met[static_cast<std::size_t>(n)] = true;
  return switches.made == n;
}

/// An expression of Eigen, times the factor where slip n is made.
template <class Expression>
auto times(int n, double factor, const Expression& expression) {
  auto value = expression.eval();
  if (on(n)) value *= static_cast<typename Expression::Scalar>(factor);
  return value;
}

}  // namespace attica_slip

// What a slip leaves unused or converts is no matter.
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wunused-variable"
