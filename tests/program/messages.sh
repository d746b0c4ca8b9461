#!/usr/bin/env bash
# What reaches terminals, scripts and tables: refusals, names, escape sequences, completion.   messages.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/small_run.sh"

# Text that would break tables, scripts, terminals and job scripts.
run 2 run gauss-lambda --set 'model.covariance="data"' --set 'sweep.file=["a\nb.csv"]' --dry-run
says err "text without control characters"
run 2 slurm small.toml --name $'a\n#SBATCH --wrap=evil\ntouch pwned'
silent out
run 2 slurm small.toml --out $'a\nb'
silent out
run 0 slurm small.toml --name 'two words'
says out "#SBATCH --job-name=two_words"
grep -E '^#SBATCH --output=two_words-%A_%a.log$' out >/dev/null || fail "the log's name"
printf 'study = "\\u001b[31mred"\n' >red.toml
run 2 run red.toml
grep -q $'\x1b' err && fail "escape sequences reach the terminal"
absent pwned

# Crashes and hangs.
{ printf 'study = "gauss-lambda"\n[model]\n'; printf 'a.%.0s' $(seq 40000); printf 'a = 1\n'; } >deep.toml
run 2 run deep.toml --dry-run
says err "a key of more than 256 parts"
run 2 run gauss-lambda --dry-run --set "$(printf 'a.%.0s' $(seq 40000))a=1"
"$program" run small.toml --name closed --replicates 5 --quiet <&- >&- 2>&-
code=$?
[ $code -lt 128 ] || fail "all streams closed: exit code $code"
run 2 plot "$whole" --format svg,svg
run 2 run small.toml --set 'plot.formats=["svg","svg"]'
says err "distinct"

# Help, refusals, tables with semicolons.
run 0 help run
says out "--until-decided"
run 0 help
run 2 run --foo
says err "\`run\` has no option '--foo'"
"$program" --version >/dev/full 2>err
[ $? -eq 5 ] || fail "--version to a full disk"
run 2 judge theory.csv
says err "attica: error: \`judge\` needs SIMULATIONcsv, as in \`attica judge"
run 2 plot "$whole" --style nature
says err "attica: error: parameter '--style' = nature: expected one of aps, neurips, icml, jmlr, slides"
run 2 completion tcsh
says err "expected one of bash, zsh, fish"
run 2 run gauss-lambda --margin
says err "\`--margin\` needs a value; see \`attica run --help\`"
run 2 show
says err "needs STUDY|CONFIG"
run 0 list topics
[ "$(grep -vc '^topics-' out)" -eq 0 ] || fail "list topics: $(cat out)"
run 2 list nowhere
run 0 show topics-text
says out "There is no theory: claims only"
run 0 cite gauss-lambda
grep -q 'note = ' out && fail "cite: a note would be printed in a bibliography"
says out "doi = {10.48550/arXiv.2304.07235}"
printf 'a;b\n1;2\n3;4\n' >semicolon.csv
run 0 measure semicolon.csv
grep -q '^rows *2$' out && grep -q '^columns *2$' out || fail "semicolons: $(cat out)"
printf ',a,b\n0,1,2\n1,3,4\n' >index.csv
run 2 run gauss-lambda --set 'model.covariance="data"' --set 'model.file="index.csv"' --dry-run
says err "index=False"
[ "$(grep -o '/index.csv' err | wc -l)" -eq 1 ] || fail "the path stands there twice: $(cat err)"
printf '3"4",1\n2,2\n' >quote.csv
run 2 measure quote.csv
says err "a quote inside the field"
run 2 run gauss-lambda --set model.sites=60.0 --dry-run
says err "= 60.0: expected an integer"
rm -rf "$whole/parts"
run 0 status "$whole"
says out "its parts were removed"

# Completion knows presets and keys.
run 0 completion bash
bash -c '. ./out; COMP_WORDS=(attica run gauss-lambda --preset ""); COMP_CWORD=4; _attica; echo "${COMPREPLY[*]}"' >words 2>/dev/null
says words "paper"
bash -c '. ./out; COMP_WORDS=(attica run gauss-lambda --set model.r); COMP_CWORD=4; _attica; echo "${COMPREPLY[*]}"' >words 2>/dev/null
says words "model.rho="

# A mistyped number in the first line does not make it a header.
printf '3x4,1\n2,2\n4,5\n' >slip.csv
run 2 measure slip.csv
says err "'3x4' is neither a number nor the name of a column"

# Names of files do not reach the terminal raw, in whatever is printed.
printf '1,2\n3,4\n' >$'red\e[31m.csv'
run 0 measure $'red\e[31m.csv'
says out '\x1b[31m'
run 0 run small.toml --margin 0.3 --name red --out $'out\e[31m' --quiet
run 0 status $'out\e[31m'/red-*
grep -q $'\e' out && fail "a raw escape character"
finish
