#!/usr/bin/env bash
# A comma outside the brackets of a function is refused in formulas of every kind, and so is "0,5" within them.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
advice="expected one formula; decimals are written with a point (0.05)"
run 2 run claim.toml --out runs
says err "parameter 'claim.1.expression' = y < 0,05: $advice"
absent runs
sed 's/y < 0,05/y < 0.05/' claim.toml >point.toml
run 1 run point.toml --out runs --name point
says out "DISAGREE"
# A theory, a simulation, a bound of study own, and of a built-in one.
sed 's/y < 0,05/y < 1/; s|^expression = "1/sqrt(n)"|expression = "1,5/sqrt(n)"|' claim.toml >theory.toml
run 2 theory theory.toml
says err "$advice"
run 2 run theory.toml --set 'theory.expression="1/sqrt(n)"' --set 'claim.1.expression="y < max(0,05, n)"' --out runs
says err "a point for a decimal (0.0)"
printf 'study = "own"\nx = "n"\n[sweep]\nn = [1.0]\n[simulation]\nexpression = "2,5*n"\n' >simulation.toml
run 2 run simulation.toml --out runs
says err "$advice"
printf '[[bound]]\nseries = "y"\nexpression = "1/n^0,5"\n' | cat theory.toml - >bound.toml
run 2 bound bound.toml --set 'theory.expression="1/sqrt(n)"' --out runs
says err "parameter 'bound.1.expression'"
printf 'study = "gauss-lambda"\n[[bound]]\nseries = "test_error"\nexpression = "0,5"\n' >built_in.toml
run 2 bound built_in.toml --out runs
says err "$advice"
# What else a grammar could read in another sense, or Python and calculators write.
for formula in '0 < y < 0.05' 'y = 0.05' 'y < 5 %' 'y ** 2 < 1' 'y < 1_000' 'y < −1' '!(y < 1)' 'y < 1 & y > 0'; do
  run 2 run point.toml --set "claim.1.expression=\"$formula\"" --out refused
  says err "claim.1.expression"
done
# No condition: it would hold of every run.
run 3 run point.toml --set 'claim.1.expression="y"' --out runs --name number
says out "expected a condition such as 'y < 0.05'"
finish
