#!/usr/bin/env bash
# What a card of one's own says twice, or says of nothing, is refused with its place: one of the two would be dropped without a word.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
# refused NAME MESSAGE: the card with the tables of standard input is refused with that message.
refused() {
  { cat decay.toml; cat; } >"$1.toml"
  run 2 theory "$1.toml"
  says err "$1.toml:$2"
}
lines=$(wc -l <decay.toml)
refused parameter "$((lines + 2)):7: error: key 'model.rate' stands at [[parameter]] 1 already" <<'END'
[[parameter]]
key = "model.rate"
meaning = "another"
END
refused series "$((lines + 2)):8: error: name 'decay' stands at [[series]] 1 already" <<'END'
[[series]]
name = "decay"
symbol = "z"
END
refused preset "$((lines + 2)):8: error: name 'fast' stands at [[preset]] 1 already" <<'END'
[[preset]]
name = "fast"
model.rate = 6.0
END
refused limit "$((lines + 5)):10: error: series 'decay' stands at [[limit]] 1 already" <<'END'
[[limit]]
series = "decay"
relative = 0.1
[[limit]]
series = "decay"
relative = 0.2
END
refused nameless "$((lines + 1)):1: error: [[reference_run]] 2: missing key 'name'" <<'END'
[[reference_run]]
model.rate = 6.0
END
sed 's/^range = .*/default = 0.7/' decay.toml >default.toml
run 2 theory default.toml
says err "default.toml:26:11: error: the default of 'model.rate' is its value in the file, not this one"
sed 's/^range = .*/range = "temperature > 0"/' decay.toml >range.toml
run 2 theory range.toml
says err "range.toml:"
says err "temperature > 0: expected a range of rate"
sed 's/^symbol = "y"/diagnostic = true/' decay.toml >diagnostic.toml
run 2 theory diagnostic.toml
says err "diagnostic.toml:30:14: error: series 'decay' has a margin, [agreement.decay], and is not judged, diagnostic = true"
# A parameter that the file has no value of has its default from [[parameter]].
sed 's/exp(-rate\*t)"/exp(-scale*rate*t)"/' decay.toml >scale.toml
printf '[[parameter]]\nkey = "model.scale"\nmeaning = "factor"\ndefault = 2.0\n' >>scale.toml
run 0 theory scale.toml
says out "own,decay,theory,t,1,0.36787944117144233"
# A preset has no value of what [sweep] varies.
sed '/^\[model\]/,/^rate/d; s/^t = .*/&\nrate = [0.5, 1.0]/' decay.toml >swept.toml
run 0 theory swept.toml
run 2 theory swept.toml --preset fast
says err "'preset fast' = model.rate: expected a key that [sweep] does not vary"
# The gallery takes every file once, and needs a perturbed theory.
run 2 gallery decay.toml decay.toml --out shown
says err "decay.toml: expected every study and every file once"
absent shown
sed '/^\[\[perturbed/,$d' decay.toml >right.toml
run 2 gallery right.toml --perturbed --out shown
says err "expected a study with [[perturbed]]"
sed '/^\[\[parameter/,$d' decay.toml >plain.toml
run 2 theory plain.toml --preset fast
says err "expected none: 'own' has no presets"
# The pilot's replicates are not chosen.
run 2 plan decay.toml --replicates 3
says err "--replicates 3: \`plan\` estimates the number of replicates, from a pilot of 30"
finish
