#!/usr/bin/env bash
# Every command of the README and the guide works as it stands.   readme.sh PROGRAM PROJECT_FOLDER
#
# Runs, in order, the lines of ```sh blocks that start with `build/attica` or `attica `, page by page, in a folder
# where the repository's data lie as in a clone. A line may end with `# exit N` if it is meant to fail.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

commands=0
for page in "$project"/README.md "$project"/docs/*.md; do
  [ -e "$page" ] || continue
  folder=$work/$(basename "$page" .md)
  mkdir -p "$folder/build"
  ln -s "$program" "$folder/build/attica"
  ln -s "$project/data" "$folder/data"
  cd "$folder" || exit 1
  while IFS= read -r line; do
    expected=$(sed -n 's/.*# exit \([0-9]*\) *$/\1/p' <<<"$line")
    PATH=$folder/build:$PATH bash -c "$line" >out 2>err </dev/null
    code=$?
    [ "$code" -eq "${expected:-0}" ] || {
      fail "$(basename "$page"): $line: exit code $code"
      head -5 err | sed 's/^/    /' >&2
    }
    commands=$((commands + 1))
  done < <(awk '/^```/ { inside = ($0 ~ /^```sh[ \t]*$/) ; next } inside && /^(build\/attica|attica) /' "$page")
done
[ "$commands" -gt 0 ] || fail "no commands found in README.md and docs/*.md"
echo "$commands commands"
finish
