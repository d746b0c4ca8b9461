#!/usr/bin/env bash
# A mistyped key of [model] or [sweep] beside a built-in study: the study would go on with its default, on both sides.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 0 theory study.toml
sed 's/^sites/sitess/' study.toml >mistyped.toml
run 2 theory mistyped.toml
says err "mistyped.toml:4:1: error: 'sitess' of [model] or [sweep] is no parameter of gauss-lambda, and no formula and no command names it; did you mean 'sites'?"
sed 's/^alpha/alhpa/' study.toml >swept.toml
run 2 theory swept.toml
says err "'alhpa' of [model] or [sweep] is no parameter of gauss-lambda"
# A number for what the study sweeps, and a name that a formula has, are used.
sed 's/^alpha.*//; s/^sites.*/&\nalpha = 1.0/' study.toml >selected.toml
run 0 theory selected.toml
sed 's/^sites.*/&\nscale = 2.0/; s/^study = "gauss-lambda"/expression = {test_error = "scale*lambda"}/; t' study.toml |
  awk '/expression/ && ++n == 2 {print "study = \"gauss-lambda\""; next} {print}' >formula.toml
run 0 theory formula.toml
says out "test_error"
# Rows of a program's table may be selected by it: a warning.
sed 's/^sites.*/&\ndepth = 3/' study.toml |
  awk '/^study/ && ++n == 2 {print "command = [\"awk\", \"BEGIN {{print {seed} {lambda}}}\"]"; next} {print}' >program.toml
run 0 theory program.toml
says err "'depth' of [model] or [sweep] is no parameter of gauss-lambda"
finish
