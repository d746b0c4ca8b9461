// Any bytes are either a figure's file with a panel or more, which reads the same each time, or an
// Error of kind input.
#include <cstdlib>

#include "attica/app/figures/figure_file.hpp"
#include "attica/core/error.hpp"
#include "fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  const InputFile file(data, size);
  try {
    const app::FigureFile first = app::read_figure_file(file.path());
    if (first.panels.empty()) std::abort();
    if (app::read_figure_file(file.path()).panels.size() != first.panels.size()) std::abort();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) std::abort();
  }
  return 0;
}
