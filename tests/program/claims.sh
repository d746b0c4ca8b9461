#!/usr/bin/env bash
# Statements of papers and the studies that answer them, figures of papers by name, and what --help shows of every verb.
#   claims.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

run 0 claims --json
cp out claims.json
run 0 list --json
cp out list.json
cat >ledger.py <<'END'
import json, pathlib, sys, tomllib

root = pathlib.Path(sys.argv[1])
claims, studies = json.load(open("claims.json")), {s["name"] for s in json.load(open("list.json"))}
keys = {"statement", "paper", "section", "row", "card", "studies", "run", "by", "result", "verdict", "resolution", "command", "schema"}
answered, places, written = set(), set(), 0
for claim in claims:
    where = f"{claim['section']} {claim['row']}"
    assert set(claim) == keys, (where, set(claim) ^ keys)
    assert claim["statement"] and claim["result"], where
    assert claim["paper"]["title"] and claim["paper"]["authors"] and claim["paper"]["year"] > 2000, where
    assert where not in places, f"{where} twice"
    places.add(where)
    assert set(claim["studies"]) <= studies, (where, claim["studies"])
    answered |= set(claim["studies"])
    if claim["card"] is None:
        assert claim["verdict"] is None and claim["command"] is None and not claim["studies"] and claim["by"], where
        continue
    assert (root / claim["card"]).is_file(), where
    assert claim["verdict"] in ("AGREE", "CLAIMS HOLD", "DISAGREE", "INCONCLUSIVE"), where
    assert claim["command"].startswith(f"attica run {claim['studies'][0]}"), where
assert not studies - answered, f"studies that answer nothing: {sorted(studies - answered)}"
for card in root.glob("studies/*/*.toml"):
    written += len(tomllib.loads(card.read_text(encoding="utf-8")).get("answers", []))
written += len(tomllib.loads((root / "studies/papers.toml").read_text(encoding="utf-8"))["open"])
assert written == len(claims), (written, len(claims))
for section in {c["section"] for c in claims}:
    rows = sorted(c["row"] for c in claims if c["section"] == section)
    assert rows == list(range(1, len(rows) + 1)), (section, rows)
END
python3 ledger.py "$project" 2>err || fail "claims: $(tail -1 err)"
run 0 claims 2410.23438
says out 'bigrams-regularisation'
run 2 claims nobody-says-this
says err 'attica claims'
PYTHONDONTWRITEBYTECODE=1 python3 "$project/docs/paper_rows" --program "$program" --check 2>err || fail "$(cat err)"

# Figures of papers: all are listed, each with runs of studies that there are and panels of what these record.
run 0 figure --paper
cp out listed
[ "$(grep -c '^[0-9.]*:' listed)" -ge 8 ] || fail "fewer than eight figures: $(cat listed)"
for file in "$project"/app/figures/papers/*.toml; do
  id=$(basename "$file" .toml)
  grep -q "^${id/-/:}" listed || fail "$id is not listed"
done
run 0 figure --paper 2310.00535:2 --format svg,png --seed 3
for file in figures/2310.00535-2.svg figures/2310.00535-2.png figures/2310.00535-2.csv; do
  [ -s "$file" ] || fail "no $file"
done
says figures/2310.00535-2.svg 'figure: 2 of Tian'
before=$(stat -c %Y figures/runs/*/parts/*.part)
run 0 figure --paper 2310.00535:2 --seed 3 --format svg --set 'figure.a.title="mine"'
[ "$before" = "$(stat -c %Y figures/runs/*/parts/*.part)" ] || fail "the run of a figure is made again"
run 2 figure --paper 2310.00535:99
says err 'one of 2310.00535:2, 2310.00535:3, 2310.00535:4; `attica claims`'
run 2 figure
says err '--paper'
run 2 figure runs/x --seed 3
says err "'--seed 3'"
run 2 figure runs/x --paper 2310.00535:2
says err 'runs/x'

# Two commands and a page, whose heading there is, for every verb.
"$program" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' >verbs
cat >pages.py <<'END'
import pathlib, re, sys

root = pathlib.Path(sys.argv[1])
for verb in open("verbs").read().split():
    text = open(f"help-{verb}").read()
    examples = re.search(r"^Examples:\n((?:  .*\n)+)", text, re.M)
    assert examples and examples[1].count("attica " + verb) >= 2, f"{verb}: two examples"
    page, _, anchor = re.search(r"^More: (\S+)", text, re.M)[1].partition("#")
    words = (root / page).read_text(encoding="utf-8")
    slug = lambda title: re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    titles = [slug(line.lstrip("# ").replace("`", "")) for line in words.splitlines() if line.startswith("#")]
    assert not anchor or anchor in titles, f"{verb}: {page} has no heading {anchor}"
END
while read -r verb; do
  run 0 "$verb" --help
  mv out "help-$verb"
done <verbs
python3 pages.py "$project" 2>err || fail "$(tail -1 err)"

# A refusal ends with the page and heading that explain it: of every verb, of studies, of configurations.
cat >refusals.py <<'END'
import pathlib, re, sys

root = pathlib.Path(sys.argv[1])
found = re.search(r"\((docs/[\w-]+\.md)(?:#([\w-]+))?\)\s*$", open("err").read())
assert found, open("err").read()
slug = lambda title: re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
lines = (root / found[1]).read_text(encoding="utf-8").splitlines()
titles = [slug(line.lstrip("# ").replace("`", "")) for line in lines if line.startswith("#")]
assert not found[2] or found[2] in titles, f"{found[1]} has no heading {found[2]}"
END
explained() { python3 refusals.py "$project" 2>refusal || fail "$*: $(tail -1 refusal)"; }
while read -r verb; do
  run 2 "$verb" --no-such-option
  explained "$verb"
done <verbs
printf 'study = "own"\n[theory]\nexpresion = "x"\n' >typo.toml
for command in 'run nowhere' 'run gauss-lambda --set model.rho=2' 'theory typo.toml' 'judge a.csv b.csv' 'figure --paper none' 'wrong' 'run'; do
  # shellcheck disable=SC2086
  run 2 $command
  explained "$command"
done
run 2 run gauss-lambda --set 'sweep.time=[1]'
says err "(docs/guide.md#change-parameters)"
printf 'x,loss\n1,2\n' >unnamed.csv
run 2 judge unnamed.csv unnamed.csv
says err "did you mean 'loss'? Call it 'value' (docs/own.md#files-that-are-read)"

# The commands work when they are typed: those that need no run and no browser.
printf 'x,value\n1,2\n2,4\n' >theory.csv
printf 'x,mean,sem,n\n1,2.01,0.02,25\n2,4.05,0.03,25\n' >measured.csv
awk 'BEGIN { srand(1); print "x,step,seed,replicate,value,loss"; for (n = 1; n < 200; n *= 2) for (k = 0; k < 60; ++k) {
  y = 1.5 * n * (1 + (rand() - 0.5) / 10); print n "," n "," k "," k "," y "," 1 / sqrt(y) } }' >table.csv
cut -d, -f1,4,5 table.csv >steps.csv
cut -d, -f1,4,6 table.csv | sed 's/loss/value/' >losses.csv
printf '0.9,0.1\n0.2,0.8\n' >layer1.csv
cp layer1.csv layer2.csv
"$program" init gauss-lambda >mine.toml
cp mine.toml old.toml
sed -n '/^Examples:/,/^$/s/^  \(attica .*\)/\1/p' help-{list,claims,show,init,theory,plan,slurm,gallery,map,measure,judge,bound,fit,cite,config,schema,migrate} |
  grep -v 'runs/\|[.]npy\|safetensors\|losses.csv --x step' >typed
[ "$(wc -l <typed)" -ge 25 ] || fail "few examples: $(cat typed)"
mkdir bin
ln -s "$program" bin/attica
while read -r line; do
  case $line in
    *gallery* | *' map '*) line="$line --dry-run" ;;
  esac
  PATH=$PWD/bin:$PATH bash -c "${line/--dry-run --dry-run/--dry-run}" >out 2>err </dev/null || fail "--help shows '$line': $(tail -1 err)"
done <typed
finish
