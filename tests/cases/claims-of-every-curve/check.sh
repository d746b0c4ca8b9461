#!/usr/bin/env bash
# A claim is one of every curve of its series, not of the first one; coordinates may stand in it.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
{
  echo 'L,x,replicate,value'
  for l in 1 2; do for x in 1 2; do for r in $(seq 10 49); do echo "$l,$x,$r,$((l * x)).0$r"; done; done; done
} >simulation.csv
printf 'L,x,value\n1,1,1\n1,2,2\n2,1,2\n2,2,4\n' >theory.csv
card() {
  cat <<END
[theory]
file = "theory.csv"
[simulation]
file = "simulation.csv"
independent = true
[agreement.y]
relative = 0.2
[[claim]]
expression = "$1"
name = "small"
END
}
card 'y < 3' >three.toml
run 1 run three.toml --quiet
says out "DISAGREE"
says out "small (L=2)"
card 'y < 5' >five.toml
run 0 run five.toml --quiet
says out "2 of 2 claims hold"
card 'y < 3*L' >coordinate.toml
run 0 run coordinate.toml --quiet
says out "2 of 2 claims hold"
{ card 'y < 3'; printf '[model]\nL = 1\n'; } >selected.toml
run 0 run selected.toml --quiet
says out "1 of 1 claims hold"
finish
