#!/usr/bin/env bash
# The gallery: verdicts against the expected ones, page, exit codes.   gallery.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

run 0 gallery --dry-run
studies=$("$program" list | grep -cE '^ *[a-z0-9]+-[a-z0-9-]+ ')
good=$(grep -cE '^(AGREE|CLAIMS HOLD) ' out)
[ "$good" -ge "$studies" ] || fail "the gallery has $good of $studies studies"
grep -q '^DISAGREE ' out || fail "no recipe must disagree"
grep -q '^INCONCLUSIVE ' out || fail "no recipe must stay inconclusive"

# A program that is somewhere else finds what comes with attica, not what `./dev data` fetched beside the program.
mkdir away
cp "$program" away/attica
away/attica gallery gauss-double-descent --dry-run >out || fail "no gallery without fetched data"
says out 'left out      gauss-double-descent-cell-nuclei needs cell_nuclei.csv, which ./dev data fetches'
runs=$(grep -c '^[A-Z]' out)
[ "$runs" -eq 5 ] || fail "of what is there something was left out: $(cat out)"
away/attica gallery gauss-double-descent --out g >out || fail "the gallery without fetched data did not come out as expected"
says out "$runs of $runs as expected"
says g/index.html "$runs of $runs came out as expected"
says g/index.html 'Left out: gauss-double-descent-cell-nuclei needs cell_nuclei.csv'
says g/gallery.json '"file": "cell_nuclei.csv"'
[ "$(grep -c '<article' g/index.html)" -eq "$runs" ] || fail "the page has not $runs cards"
mkdir away/data
touch away/data/cell_nuclei.csv
away/attica gallery gauss-double-descent --dry-run >out || fail "no gallery with fetched data"
says out "DISAGREE      attica run gauss-double-descent --set 'model.covariance=\"data\"' --set 'model.file=\"cell_nuclei.csv\"'"
rm -r away/data
# Every figure and report that the page names is there, and nothing comes from a network.
while read -r file; do
  [ -e "g/$file" ] || fail "g/$file is missing"
done < <(grep -oE '(src|href)="[^"#]+"' g/index.html | sed -E 's/.*="(.*)"/\1/' | grep -v '^data:')
grep -q 'https\?://' g/index.html && fail "the page wants a network"

# Existing runs are kept, and used only when asked for.
run 5 gallery gauss-double-descent --out g
says err '--resume'
cp g/gauss-double-descent-[0-9a-f]???????/results.csv before
run 0 gallery gauss-double-descent --out g --resume --json
one_json out
same before "$(echo g/gauss-double-descent-[0-9a-f]???????)/results.csv"

# An unexpected verdict decides the exit code: too few replicates leave everything open.
run 3 gallery gauss-lambda --out few --replicates 2
says out 'expected AGREE'
says few/index.html 'class="warning"'
# Another preset of every study, or of those named; what is carried on with keeps the time that it took.
run 0 gallery --preset paper --dry-run
good=$(grep -cE ' --preset paper$' out)
[ "$good" -eq "$studies" ] || fail "$good of $studies studies have a preset paper"
run 0 gallery joma-salience topics-onset --preset paper --out paper
says out '2 of 2 as expected'
says paper/index.html 'Every study at its preset paper'
sed -i -E 's/"seconds": [0-9.e-]+/"seconds": 1000000/' paper/gallery.json
run 0 gallery joma-salience topics-onset --preset paper --out paper --resume --json
one_json out
says out '"preset": "paper"'
says out '"seconds": 10000'  # judging adds up to 99 s
run 2 gallery joma-salience --preset papers
says err 'one of quick, paper'
echo '{"entries": [1]}' >paper/gallery.json
run 0 gallery joma-salience --preset paper --out paper --resume
run 2 gallery --preset papers
# Wrong theories, chosen before looking: each must be rejected.
run 0 gallery joma-salience topics-onset --perturbed --out perturbed
says out '4 of 4 wrong theories rejected'
run 0 gallery joma-salience --perturbed --out perturbed --json
one_json out
says out '"rejected": 2'
# The table of what verdicts are worth says what the runs' own files say, and needs its marks.
if command -v python3 >/dev/null; then
  "$project/docs/resolutions" --program "$program" --out perturbed --page - joma-salience topics-onset >table || fail "no table of resolutions"
  grep -qE '^\| `joma-salience` \| AGREE.* \| 2 of 2 \|$' table || fail "the table: $(cat table)"
  grep -q '^2 studies; 4 of 4 perturbed theories detected' table || fail "the table: $(cat table)"
  worst=$(python3 -c 'import json, sys; print("%.2g %%" % (100 * json.load(open(sys.argv[1]))["coarsest_resolution"]))' \
    perturbed/joma-salience-[0-9a-f]*/check.json)
  [ -n "$worst" ] || fail "no coarsest resolution in check.json"
  grep '`joma-salience`' table | grep -qF "$worst" || fail "the table has not the $worst of check.json"
  echo none >page.md
  "$project/docs/resolutions" --program "$program" --out perturbed --page page.md joma-salience 2>err && fail "a page without marks was accepted"
  says err 'expected the marks'
fi
# Every study has its row in the manual.
while read -r name; do
  grep -q "^| \`$name\` |" "$project/docs/notes/resolutions.md" || fail "$name has no row in docs/notes/resolutions.md: run docs/resolutions"
done < <("$program" list | grep -oE '^ *[a-z0-9]+-[a-z0-9-]+ ')
run 2 gallery gauss-lambada
says err "did you mean 'gauss-lambda'"
finish
