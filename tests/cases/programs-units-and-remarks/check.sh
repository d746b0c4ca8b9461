#!/usr/bin/env bash
# Of two programs, too, units are compared; what is said of tables is said of those that programs print.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cat >card.toml <<'END'
x = "t"
[sweep]
t = [1.0, 2.0]
[theory]
command = ["awk", "-f", "theory.awk"]
[simulation]
command = ["awk", "-f", "simulation.awk", "-v", "s={seed}"]
[agreement.y]
relative = 0.1
[sim]
replicates = 8
END
theory() { # theory HEADER [LINE]
  printf 'BEGIN { print "%s"; %s print "1,2"; print "2,3" }\n' "$1" "${2:+print \"$2\";}" >theory.awk
}
simulation() {
  printf 'BEGIN { srand(s %% 2147483647); print "%s"; %s for (t = 1; t < 3; ++t) print t "," t + 1 + 0.01 * rand() }\n' \
    "$1" "${2:+print \"$2\";}" >simulation.awk
}
theory 't [s],value [m]'
simulation 't [ms],value [m]'
run 2 run card.toml --quiet
says err "x in [ms], but in [s] in"
simulation 't [s],value [mm]'
run 2 run card.toml --quiet
says err "values in [mm], but in [m] in"
simulation 't [s],value'
run 0 run card.toml --quiet --name plain
simulation 't [s],value [m]'
run 0 run card.toml --quiet --name same
silent err

# A line that begins with '#' and has as many fields as a row is left out: said once, however many replicates print it.
simulation 't [s],value [m]' '#7,8'
run 0 run card.toml --name comment
[ "$(grep -c "a line that begins with '#' has as many fields as a row" err)" = 1 ] || fail "$(cat err)"
grep -q "begins with '#'" runs/comment-*/log.txt || fail "not in the log"
theory 't [s],value [m]' '#1,2'
run 0 theory card.toml
says err "a line that begins with '#' has as many fields as a row"
finish
