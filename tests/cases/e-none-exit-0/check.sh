#!/usr/bin/env bash
# A comparison of which nothing is compared is refused with the reason after the first process; a key of [model] selects the theory's curve.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 1 run none.toml --out runs --name selected --quiet
says out "2 disagree"
# The simulation has no coordinate lambda, and nothing fixes it.
sed '/^lambda = /d; s/^tau = .*/&\nlambda = [0.01, 0.1, 1.0]/' none.toml >open.toml
run 2 run open.toml --out open
says err "icl of the theory has the coordinate lambda (0.01, 0.1, 1), the simulation none"
[ "$(find open -name '*.part' 2>/dev/null | wc -l)" -le 4 ] || fail "all processes were run before the refusal"
# A series that the theory does not have is refused before any process, tables without a common place before a folder.
sed 's/\[agreement.icl\]/[agreement.icy]/' none.toml >series.toml
run 2 run series.toml --out series
says err "the theory has no series 'icy'"
absent series
printf 'x,value\n1,2\n2,4\n' >theory.csv
printf 'x,replicate,value\n1.5,0,3\n1.5,1,3.1\n' >simulation.csv
run 2 judge theory.csv simulation.csv --margin 5% --out none
says err "nothing can be compared: 1 points of the simulation, none with a theory; y at x=1.5: the nearest x of the theory is"
absent none
finish
