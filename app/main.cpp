#include "attica/app/program.hpp"
#include "attica/core/freed_memory.hpp"

int main(int argc, char** argv) {
  attica::keep_freed_memory();
  return attica::app::program(argc, argv, attica::studies());
}
