#include "attica/sources/watched.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

using namespace attica::sources;

namespace own_watched_test {

namespace fs = std::filesystem;

/// A folder of its own, removed with it.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "attica-watched-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
  }
  std::vector<std::string> watched(const std::vector<std::string>& arguments,
                                   const std::vector<std::string>& inputs = {}) const {
    std::vector<std::string> names;
    for (const fs::path& file :
         watched_files({.arguments = arguments, .directory = path, .inputs = inputs}).files)
      names.push_back(fs::relative(file, path).generic_string());
    std::sort(names.begin(), names.end());
    return names;
  }
};

using Names = std::vector<std::string>;

TEST_CASE("imported_names: every way of importing", "[studies][own]") {
  CHECK(imported_names("import a, b.c as d\nfrom e import f") == Names{"a", "b.c", "e", "e.f"});
  CHECK(imported_names("from . import a\nfrom .b import c\nfrom ..d.e import (f as g,\n  h)") ==
        Names{".a", ".b", ".b.c", "..d.e", "..d.e.f", "..d.e.h"});
  CHECK(imported_names("def f():\n  import a; import b\nif x: import c\nimport d \\\\\n  , e") ==
        Names{"a", "b", "c", "d", "e"});
  CHECK(imported_names("# import a\ns = 'import b'\n\"\"\"\nimport c\n\"\"\"\nx.import_me\n"
                       "yield from d\nraise E from e") == Names{});
  CHECK(imported_names("from a import *") == Names{"a"});
}

TEST_CASE("watched_files: what a script imports, directly and indirectly", "[studies][own]") {
  const Folder f;
  f.write("sim.py", "import numpy, model\nfrom lib import tools\nfrom lib.deep.er import x\n");
  f.write("model.py", "import other\n");
  f.write("other.py", "import model\n");  // a circle
  f.write("lib/__init__.py", "");
  f.write("lib/tools.py", "from . import helper\nfrom .deep import er\n");
  f.write("lib/helper.py", "");
  f.write("lib/deep/__init__.py", "");
  f.write("lib/deep/er.py", "from ..side import z\n");
  f.write("lib/side.py", "");
  f.write("lib/unused.py", "");
  f.write("numbers.csv", "1\n");
  const Names all{"lib/__init__.py",
                  "lib/deep/__init__.py",
                  "lib/deep/er.py",
                  "lib/helper.py",
                  "lib/side.py",
                  "lib/tools.py",
                  "model.py",
                  "other.py",
                  "sim.py"};
  CHECK(f.watched({"python3", "sim.py", "{seed}"}) == all);
  CHECK(f.watched({"env", "A=1", "python3.11", "-m", "sim"}) == all);
  CHECK(f.watched({"python3", "-c", "import model"}) == Names{"model.py", "other.py"});
  CHECK(f.watched({"awk", "-f", "numbers.csv"}) == Names{"numbers.csv"});
  CHECK(f.watched({"awk"}, {"lib/*.py"}) ==
        Names{"lib/__init__.py", "lib/helper.py", "lib/side.py", "lib/tools.py", "lib/unused.py"});
  CHECK(f.watched({"awk"}, {"lib/deep"}) == Names{"lib/deep/__init__.py", "lib/deep/er.py"});
  CHECK(
      watched_files({.arguments = {"awk"}, .directory = f.path, .inputs = {"*.none"}}).unmatched ==
      Names{"*.none"});
}

TEST_CASE("watched_files: what it cannot follow it says", "[studies][own]") {
  const Folder f;
  f.write("late.py", "import importlib\nimportlib.import_module('model')\n");
  f.write("plain.py", "import math\n");
  f.write("run.sh", "python3 sim.py\n");
  const auto warnings = [&](const Names& arguments, const Names& inputs = {}) {
    return watched_files({.arguments = arguments, .directory = f.path, .inputs = inputs})
        .warnings.size();
  };
  CHECK(warnings({"python3", "late.py"}) == 1);
  CHECK(warnings({"python3", "late.py"}, {"plain.py"}) == 0);
  CHECK(warnings({"python3", "plain.py"}) == 0);
  CHECK(warnings({"sh", "run.sh"}) == 1);
  CHECK(warnings({"awk", "BEGIN { print 1 }"}) == 0);
}

TEST_CASE("python_of: what starts Python", "[studies][own]") {
  const Folder f;
  f.write("tool", "#!/usr/bin/env python3\nimport sys\n");
  const auto of = [&](const Names& arguments) {
    return python_of({.arguments = arguments, .directory = f.path});
  };
  CHECK(of({"python3", "sim.py"}) == Names{"python3"});
  CHECK(of({"uv", "run", "python", "sim.py"}) == Names{"uv", "run", "python"});
  CHECK(of({"./tool", "1"}) == Names{"/usr/bin/env", "python3"});
  CHECK(of({"awk", "python_like"}).empty());
}

}  // namespace own_watched_test
