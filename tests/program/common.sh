# What the tests of the program share; sourced with PROGRAM and the project's folder as $1 and $2.
set -uo pipefail
PATH=/usr/bin:$PATH  # Debian's Python, whose packages ./dev installs; others take a tenth of a second to start
program=$1
project=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# run CODE ARGUMENTS...: the program must exit with CODE; leaves its output in ./out and ./err.
run() {
  local expected=$1 code
  shift
  "$program" "$@" >out 2>err </dev/null
  code=$?
  if [ "$code" -ne "$expected" ]; then
    fail "attica $*: exit code $code, expected $expected"
    sed 's/^/    /' err >&2
    return 1
  fi
}

# says FILE TEXT: the file contains the text.
says() {
  grep -qF -- "$2" "$1" || {
    fail "'$2' is not in $1:"
    head -20 "$1" | sed 's/^/    /' >&2
  }
}

# silent FILE: the file is empty.
silent() {
  [ ! -s "$1" ] || {
    fail "$1 is not empty:"
    head -20 "$1" | sed 's/^/    /' >&2
  }
}

same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }
absent() { [ ! -e "$1" ] || fail "$1 exists"; }
present() { [ -e "$1" ] || fail "$1 is missing"; }

# one_json FILE: the file is exactly one JSON object, as far as brackets outside strings can tell.
one_json() {
  awk '
    { text = text $0 "\n" }
    END {
      depth = 0; objects = 0; quoted = 0
      n = length(text)
      for (i = 1; i <= n; ++i) {
        c = substr(text, i, 1)
        if (quoted) { if (c == "\\") ++i; else if (c == "\"") quoted = 0; continue }
        if (c == "\"") { if (depth == 0) exit 1; quoted = 1 }
        else if (c == "{" || c == "[") { if (depth == 0) { if (c != "{") exit 1; ++objects }; ++depth }
        else if (c == "}" || c == "]") --depth
        else if (depth == 0 && c !~ /[ \n]/) exit 1
        if (depth < 0) exit 1
      }
      exit !(objects == 1 && depth == 0)
    }' "$1" || {
    fail "$1 is not one JSON object:"
    head -20 "$1" | sed 's/^/    /' >&2
  }
}

finish() {
  [ "$failures" -eq 0 ] || {
    echo "$failures checks failed" >&2
    exit 1
  }
}
