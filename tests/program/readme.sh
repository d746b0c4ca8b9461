#!/usr/bin/env bash
# Every command of the documentation works as it stands.   readme.sh PROGRAM PROJECT_FOLDER [PAGE...]
#
# Runs, page by page and in order, the lines of ```sh blocks and whole ```python, ```r and ```julia blocks, in a folder where
# program, data and loaders lie as in a clone and a ```toml or ```python block is the file that its first line names. A line may end with
#   # exit N     it is meant to end with this exit code;
#   # minutes, # hours    it takes long, and is tried with --dry-run;
#   # until Ctrl-C    it is interrupted after seconds, and must end well then.
# Of `./dev VERB` only the verb is checked: this test is one of the things it does. What needs a program that is not
# on this machine is left out and counted. What a page quotes is compared with what comes out (page_outputs.py): the indented
# lines below a ```python block with its output, a ```text block with that of the ```sh block above.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# Of Open MPI: also as root, and with more processes than processors.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
declare -A interpreter=([python]=python3 [r]=Rscript [julia]=julia)
# The package for Python, if it was built beside the program, and the Python it was built for.
package=$(dirname "$program")/python
for python in python3 /usr/bin/python3; do
  if PYTHONPATH=$package "$python" -c 'import attica.runs' 2>/dev/null; then
    interpreter[python]=$python
    break
  fi
  python=
done
commands=0
quotes=0
left_out=0

# blocks PAGE: "LANGUAGE<tab>LINE" for every command; a block that is not sh is written to a file, its LINE is the name.
# What is quoted of an output lies in NAME.quoted; "begin" starts a block of sh, "text" ends one whose output is quoted.
blocks() {
  awk '
    /^```/ { language = inside ? "" : substr($0, 4); inside = !inside; file = ""
             if (inside) quoted = ""
             if (language ~ /^(python|r|julia)$/) { file = "block" ++n "." language; fresh = 1 }
             if (language == "text") { file = "block" ++n ".quoted"; print "text\t" file }
             if (language == "sh") print "begin\t-"
             if (!inside) { quoted = last ~ /^block.*[.]python$/ ? last ".quoted" : ""; last = "" } else last = file
             next }
    !inside && quoted && /^    [^ ]/ { print substr($0, 5) > quoted; next }
    !inside && NF { quoted = "" }
    language == "sh" && /\\$/ { held = held substr($0, 1, length - 1); next }
    language == "sh" && NF && !/^#/ { print "sh\t" held $0; held = "" }
    language == "toml" && /^# .*[.]toml$/ { file = $2 }
    fresh { fresh = 0; if (/^# [^ ]+[.]py$/) file = $2; else print language "\t" file }
    language ~ /^(python|r|julia|toml|text)$/ && file { print > file }' "$1"
}

# quoted PAGE QUOTED PRINTED [--excerpt]: what the page quotes is what came out.
quoted() {
  /usr/bin/env python3 "$project/tests/program/page_outputs.py" "${@:2}" >difference || fail "$1: $(cat difference)"
  quotes=$((quotes + 1))
}

# attempt PAGE LINE: the command must end with the exit code that its comment states.
attempt() {
  local page=$1 line=$2 expected code first=${2%% *}
  # Without the package only the loader answers to its name.
  [[ $page =~ ^(python|pytest|coordinates)[.]md$ && $line == *.python && -z $python ]] && { left_out=$((left_out + 1)); return; }
  expected=$(sed -n 's/.*# exit \([0-9]*\) *$/\1/p' <<<"$line")
  if [ "$first" = ./dev ]; then
    set -- $line
    grep -q "^  $2)" "$project/dev" || fail "$page: ./dev knows no '$2'"
    return
  fi
  PATH=$PWD/build:$PATH command -v "$first" >/dev/null || { left_out=$((left_out + 1)); return; }
  [[ $line == *'# minutes' || $line == *'# hours' ]] && line="${line%%#*} --dry-run"
  [[ $line == *'# until Ctrl-C' ]] && line="timeout --signal=INT --preserve-status 3 ${line%%#*}"
  PATH=$PWD/build:$PATH PYTHONPATH=$package:$PWD/loaders PYTHONDONTWRITEBYTECODE=1 bash -c "$line" >out 2>err </dev/null
  code=$?
  cat out err >>printed
  commands=$((commands + 1))
  [ "$code" -eq "${expected:-0}" ] || {
    fail "$page: $line: exit code $code"
    tail -5 err | sed 's/^/    /' >&2
  }
}

pages=("$project"/README.md "$project"/CONTRIBUTING.md "$project"/docs/{,notes/}*.md)
[ $# -le 2 ] || pages=("${@:3}")
for file in "${pages[@]}"; do
  page=$(basename "$file")
  mkdir -p "$work/${page%.md}/build"
  cd "$work/${page%.md}" || exit 1
  ln -s "$program" build/attica
  ln -s "$project"/{data,loaders,examples} .
  blocks "$file" >list  # all of it first: what is quoted stands below what prints it
  while IFS=$'\t' read -r -u 3 language line; do
    case $language in
      begin) : >printed ;;
      text) quoted "$page" "$line" printed --excerpt ;;
      *)
        attempt "$page" "${interpreter[$language]:+${interpreter[$language]} }$line"
        [[ $language == python && -n $python && -f $line.quoted ]] && quoted "$page" "$line.quoted" out
        ;;
    esac
  done 3<list
  grep -nE '^    (\./dev|(build/)?attica|mpirun) [a-z-]' "$file" >unchecked && fail "$page: commands outside of sh blocks: $(cat unchecked)"
  # Commands within sentences: at least the verb exists.
  grep -oE '`attica [a-z]+' "$file" | sort -u | while read -r _ verb; do
    "$program" "$verb" --help >/dev/null 2>&1 || echo "$verb"
  done >unknown
  [ ! -s unknown ] || fail "$page: there is no verb $(tr '\n' ' ' <unknown)"
done
[ "$commands" -gt 0 ] || fail "no commands found"
[ "$quotes" -gt 0 ] || [ $# -gt 2 ] || fail "no quoted outputs found"
echo "$commands commands, $quotes quoted outputs; $left_out need a program that is not here"
finish
