#include "attica/app/command/program.hpp"
#include "attica/core/instructions.hpp"
#include "attica/core/platform.hpp"

namespace {

/// Before static objects are made, whose code uses the instructions of this build.
__attribute__((constructor(101))) void require_processor() { attica::require_instruction_sets(); }

}  // namespace

int main(int argc, char** argv) {
  attica::platform::keep_freed_memory();
  attica::platform::limit_memory();
  return attica::app::program(argc, argv, attica::built_in());
}
