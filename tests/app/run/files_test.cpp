#include "attica/app/run/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>

#include "app/toy_study.hpp"
#include "attica/app/command/paths.hpp"

using namespace attica;
using namespace attica::app;
using toy::message_of;
namespace fs = std::filesystem;

TEST_CASE("sha256: known answers of FIPS 180-4", "[app][files]") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("write_atomically: a pipe is written to, not replaced", "[app][files]") {
  const toy::Folder folder;
  const fs::path pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  write_atomically(pipe, "text");
  std::array<char, 8> read{};
  CHECK(::read(reader, read.data(), read.size()) == 4);
  CHECK(std::string(read.data()) == "text");
  CHECK(fs::is_fifo(pipe));
  ::close(reader);
}

TEST_CASE("write_atomically: replaces whole files and leaves nothing else", "[app][files]") {
  const toy::Folder folder;
  const std::string content("a\0b\nc", 5);
  write_atomically(folder / "f", content);
  CHECK(read_whole(folder / "f") == content);
  write_atomically(folder / "f", "");
  CHECK(read_whole(folder / "f").empty());
  // What a killed process of the same number left behind does not block.
  folder.write(".f." + std::to_string(::getpid()) + ".2.tmp", "half a line");
  for (int k = 0; k < 5; ++k) write_atomically(folder / "f", "whole");
  CHECK(read_whole(folder / "f") == "whole");
  fs::remove(folder / (".f." + std::to_string(::getpid()) + ".2.tmp"));
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);

  fs::create_directory(folder / "d");
  CHECK_THAT(message_of([&] { write_atomically(folder / "d", "x"); }),
             Catch::Contains("Is a directory"));
  CHECK_THAT(message_of([&] { write_atomically(folder / "no/f", "x"); }),
             Catch::Contains("cannot create '" + (folder / "no/f").string() + "': No such file"));
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 2);
}

TEST_CASE("read_whole: anything but a readable file is a storage error", "[app][files]") {
  const toy::Folder folder;
  CHECK_THAT(message_of([&] { read_whole(folder / "none"); }), Catch::Contains("cannot read"));
  CHECK_THAT(message_of([&] { read_whole(folder.path()); }), Catch::Contains("cannot read"));
}

TEST_CASE("FolderLock: one holder at a time, named to the second; free when it is gone",
          "[app][files]") {
  const toy::Folder folder;
  {
    const FolderLock lock(folder.path());
    CHECK_THAT(message_of([&] { FolderLock second(folder.path()); }),
               Catch::Contains("is in use by process " + std::to_string(::getpid()) + " on "));
  }
  CHECK_NOTHROW(FolderLock(folder.path()));
  // A process that is killed leaves its file, not its lock.
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock(folder.path());
    [[maybe_unused]] const auto written = ::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  CHECK_THAT(message_of([&] { FolderLock second(folder.path()); }),
             Catch::Contains("process " + std::to_string(child) + " on "));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(fs::exists(folder / ".lock"));
  CHECK_NOTHROW(FolderLock(folder.path()));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("without_slash: the folder itself, absolute", "[app][files]") {
  const toy::Folder folder;
  const fs::path mine = folder / "mine";
  CHECK(without_slash(mine) == mine);
  CHECK(without_slash(mine.string() + "/") == mine);
  CHECK(without_slash(mine / "plots" / "..") == mine);
  CHECK(without_slash("mine/") == fs::current_path() / "mine");
}
