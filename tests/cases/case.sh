# What the cases share: inputs of users, each a folder with what it is run on and `check.sh`, which says what is right.
# Sourced with PROGRAM and the project's folder as $1 and $2: the case's files lie in the working folder then.
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
source "$here/../../program/common.sh"
cp -r "$here"/. .

# python CODE SCRIPT [ARGUMENTS...]: the script must exit with CODE; leaves its output in ./out and ./err.
python() {
  local expected=$1 code
  shift
  PYTHONPATH="$(dirname "$program")/python" PYTHONDONTWRITEBYTECODE=1 ATTICA_PROGRAM="$program" \
    /usr/bin/python3 "$@" >out 2>err </dev/null
  code=$?
  [ "$code" -eq "$expected" ] || {
    fail "python3 $*: exit code $code, expected $expected"
    sed 's/^/    /' err >&2
    return 1
  }
}
