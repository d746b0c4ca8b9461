#!/usr/bin/env bash
# What the guides promise is what comes out: the files of a run, exit codes, quoted outputs.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 run gauss-double-descent --name mine --set model.sites=20 --set 'sweep.alpha=[0.5, 2.0]' --replicates 40 --margin 0.2
for file in runs/mine-*/*; do
  grep -qF "| \`$(basename "$file")$([ -d "$file" ] && echo /)\`" "$project/docs/files.md" || fail "docs/files.md does not list $(basename "$file")"
done
run 0 --help
for word in NONE "CLAIMS HOLD" HOLDS VIOLATED UNDECIDED; do
  says out "$word"
  grep -qw "$word" <<<"$(sed -n '/^Exit codes: /,/^$/p' "$project/README.md")" || fail "README.md: no exit code of $word"
done
run 0 run gauss-lambda --name digits --set 'model.covariance="data"' --set 'model.file="digits.csv"' --set 'sweep.lambda=[0.1]' --replicates 30 --dry-run
grep -n 'model.file="data/digits.csv"' "$project"/docs/*.md && fail "works in the source folder alone"
# The test of the pages finds an output that is quoted wrong.
printf '# A page\n\n```sh\nattica theory gauss-lambda --set sweep.alpha=[1.0] --set sweep.lambda=[0.1] --json\n```\n\n```text\n  "study": "gauss-lambda"%s\n```\n' , >right.md
sed 's/"gauss-lambda",$/"gauss-flow",/' right.md >wrong.md
bash "$project/tests/program/readme.sh" "$program" "$project" "$PWD/right.md" >out 2>err || fail "right: $(cat err)"
bash "$project/tests/program/readme.sh" "$program" "$project" "$PWD/wrong.md" >out 2>err && fail "wrong is not found"
says err 'the page quotes:   "study": "gauss-flow"'
finish
