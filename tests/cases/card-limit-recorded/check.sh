#!/usr/bin/env bash
# [[limit]] of one's own card is the margin of the limit of large size when the run is judged later, too.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
"$program" run limit.toml --name limit --quiet >out 2>err </dev/null
"$program" check runs/limit-* --extrapolate >out 2>err </dev/null
says out "margin 0.2:"

# A margin of a series that is not compared is refused.
sed 's/series = "test_error"/series = "test_eror"/' limit.toml >other.toml
"$program" run other.toml --name other --quiet >out 2>err </dev/null
run 2 check runs/other-* --extrapolate
says err "a series that is compared: test_error"
finish
