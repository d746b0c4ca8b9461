#!/usr/bin/env bash
# What users read is short and in plain words: README, pages, changelog, texts of cards.   pages.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
command -v python3 >/dev/null || {
  echo "SKIPPED: no python3 here" >&2
  exit 77
}
python3 "$project/tests/program/pages.py" "$project" >out || fail "$(cat out)"
# The test finds what it looks for.
mkdir -p bad/docs/notes bad/studies/gauss
printf '# Page\n\nA theory is told wrong.\n' >bad/docs/a.md
printf 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n' >bad/docs/b.md
printf '%0121d\n' 1 >bad/docs/c.md
printf 'caption = "a planted error"\n' >bad/studies/gauss/x.toml
cp "$project"/{README,CHANGELOG,CONTRIBUTING}.md bad
cp "$project/docs/glossary.md" bad/docs
python3 "$project/tests/program/pages.py" bad >out && fail "bad pages pass"
for text in "a.md:3: 'told wrong'" "b.md:1: a paragraph of 7 lines" "c.md:1: a line of 121" "x.toml:1: 'planted'"; do says out "$text"; done
finish
