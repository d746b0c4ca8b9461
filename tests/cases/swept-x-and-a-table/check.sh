#!/usr/bin/env bash
# Values of x in [sweep] select no rows of a table: said where they are others than it has.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf 'x,value\n1,1\n2,2\n' >theory.csv
{ echo 'x,replicate,value'; for x in 1 2; do for r in 0 1 2 3 4 5 6 7 8 9; do echo "$x,$r,$x.0$r"; done; done; } >simulation.csv
card() { printf '[sweep]\nx = [%s]\n[theory]\nfile = "theory.csv"\n[simulation]\nfile = "simulation.csv"\nindependent = true\n[agreement.y]\nrelative = 0.5\n' "$1" >card.toml; }
card 1.0
run 0 run card.toml
says err "simulation.csv: every x of the table is compared, 2 too; sweep.x selects none of them"
card '1.0, 2.0, 5.0'
run 0 run card.toml
says err "simulation.csv: every x of the table is compared, and 5 is not there; sweep.x selects none of them"
card '2.0, 1.0'
run 0 run card.toml
! grep -q "sweep.x" err || fail "$(cat err)"
finish
