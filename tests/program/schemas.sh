#!/usr/bin/env bash
# Records and configurations are as their JSON Schemas say: records of ten studies, templates and examples; what is wrong is found.
#   schemas.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python3 -c 'import jsonschema' 2>/dev/null || {
  echo "SKIPPED: no python3-jsonschema here" >&2
  exit 77
}

mkdir schemas
for record in check manifest metrics provenance run theory card; do
  run 0 schema $record && cp out schemas/$record.json
done
run 2 schema checks
says err "'SCHEMA' = checks: expected one of"

studies=(gauss-lambda gauss-teacher potts-couplings potts-alignment topics-value-map topics-omega joma-invariants tree-cooccurrence
  bigrams-flow deep-width)
for study in "${studies[@]}"; do
  "$program" run "$study" --replicates 2 --quiet --set 'plot.formats=["svg"]' --max-time 20s --metrics metrics.json >/dev/null 2>err
  case $? in 0 | 1 | 3 | 6) ;; *) fail "attica run $study: $(cat err)" ;; esac
  mv metrics.json runs/"$study"*/ || fail "attica run $study writes no metrics"
done
for study in own $("$program" list | cut -d ' ' -f 1); do
  "$program" schema config "$study" >"schemas/config-$study.json" || fail "no schema of $study"
  [ "$study" = own ] || "$program" init "$study" >"template-$study.toml" || fail "no template of $study"
done
"$program" doctor --json >doctor.json
"$program" list gauss --json >list.json
"$program" fit runs/gauss-lambda-* --json >fit.json 2>/dev/null

python3 - "$project" <<'PYTHON' || fail "a record or a configuration is not what its schema says"
import copy
import glob
import json
import pathlib
import sys
import tomllib

import jsonschema

schemas = {p.stem: json.loads(p.read_text()) for p in pathlib.Path("schemas").iterdir()}
for schema in schemas.values():
    jsonschema.Draft202012Validator.check_schema(schema)
validators = {name: jsonschema.Draft202012Validator(schema) for name, schema in schemas.items()}
wrong = []
seen = {name: 0 for name in ("check", "manifest", "metrics", "provenance", "run", "theory")}


def validate(schema, value, name):
    wrong.extend(f"{name}: {e.json_path}: {e.message[:200]}" for e in validators[schema].iter_errors(value))


for kind in seen:
    for path in glob.glob(f"runs/*/{kind}.json"):
        value = json.loads(pathlib.Path(path).read_text())
        seen[kind] += 1
        validate(kind, value, path)
        for key in schemas[kind]["required"]:  # the schema notices what is missing or of another version
            broken = copy.deepcopy(value)
            del broken[key]
            assert not validators[kind].is_valid(broken), (kind, key)
        assert not validators[kind].is_valid(value | {"schema": "attica/check/0"}), kind
assert min(seen.values()) >= 8, seen
for path in glob.glob("template-*.toml"):
    validate("config-" + path[len("template-"):-len(".toml")], tomllib.loads(pathlib.Path(path).read_text()), path)
for path in glob.glob(sys.argv[1] + "/examples/own/*.toml") + glob.glob(sys.argv[1] + "/examples/text/*.toml"):
    value = tomllib.loads(pathlib.Path(path).read_text())
    study = value.get("experiment", value.get("study", "own"))
    if f"config-{study}" in schemas:
        validate(f"config-{study}", value, path)
    validate("card", value, path)
for path in ("doctor.json", "list.json", "fit.json"):
    value = json.loads(pathlib.Path(path).read_text() or "{}")
    for element in value if isinstance(value, list) else [value]:
        if element and not element.get("schema", "").startswith("attica/"):
            wrong.append(f"{path}: no schema")
print("\n".join(wrong))
sys.exit(bool(wrong))
PYTHON
finish
