// Any bytes are either a configuration that survives being written and read again, or an Error of
// kind input.
#include <cstdlib>

#include "attica/app/configuration_file.hpp"
#include "fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  const InputFile file(data, size);
  try {
    const std::string text = app::to_toml(
        app::read_configuration({.target = file.path(), .preset = {}, .overrides = {}}, studies()));
    const InputFile again(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    if (app::to_toml(app::read_configuration(
            {.target = again.path(), .preset = {}, .overrides = {}}, studies())) != text) {
      std::abort();
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::input) std::abort();
  }
  return 0;
}
