#include "attica/app/program.hpp"

int main(int argc, char** argv) { return attica::app::program(argc, argv, attica::studies()); }
