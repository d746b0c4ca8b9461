#pragma once
/// @file
/// @brief A file descriptor that is closed with its scope.

#include <unistd.h>

namespace attica::app {

struct Descriptor {
  int number = -1;  ///< negative: none

  explicit Descriptor(int opened = -1) : number(opened) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void close() {
    if (number >= 0) ::close(number);
    number = -1;
  }
};

}  // namespace attica::app
