#!/usr/bin/env bash
# Names of [[bound]], [[claim]] and other lists of tables stand once, given or numbered.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run 2 bound two.toml --out runs
says err "two.toml:25:8: error: name 'a' stands at [[bound]] 1 already"
sed '0,/name = "a"/s//name = "b"/' two.toml >names.toml
run 1 bound names.toml --out runs --name names
says out "VIOLATED"
sed '0,/name = "a"/s//name = "2"/; s/name = "a"//' two.toml >number.toml
run 2 bound number.toml --out runs
says err "name '2' stands at [[bound]] 1 already and is the number of this one without a name"
sed 's/\[\[bound\]\]/[[claim]]/; s/^series.*//; s/^expression = "0.1"/expression = "y < 0.1"/; s/^expression = "1"/expression = "y < 1"/' two.toml >claims.toml
run 2 run claims.toml --out runs
says err "name 'a' stands at [[claim]] 1 already"
printf 'study = "gauss-lambda"\n[[bound]]\nname = "a"\nseries = "test_error"\nexpression = "1"\n' >built_in.toml
printf '[[bound]]\nname = "a"\nseries = "test_error"\nexpression = "2"\n' >>built_in.toml
run 2 bound built_in.toml --out runs
says err "built_in.toml:7:8: error: name 'a' stands at [[bound]] 1 already"
sed '0,/name = "a"/s//name = "a.b"/' two.toml >dotted.toml
run 2 bound dotted.toml --out runs
says err 'name "a.b" of [[bound]]: expected letters, digits, _ and -'
finish
