#!/usr/bin/env bash
# Blocks of a Stockholm or Clustal file without blank lines between them are no further sequences: refused, and the
# command of the message mends the file. The advice on files without a first line reads as what they are.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
names=(alpha beta gamma delta)
left=(ACDE ACEE GCDE ACDF)
right=(FGHI FGHK YGHI WGHI)
fit() { "$program" run potts-alignment --set "model.file=\"$1\"" --replicates 1 --name "$2" --out . --quiet \
  --set 'plot.formats=["svg"]' --set sim.held_out=0.3 >out 2>err </dev/null; }
for k in 0 1 2 3; do printf '>%s\n%s%s\n' "${names[k]}" "${left[k]}" "${right[k]}"; done >family.fa
block() { for k in 0 1 2 3; do eval "printf '%-10s %s\n' \${names[k]} \${$1[k]}"; done; }
{ echo '# STOCKHOLM 1.0'; block left; echo '#=GC RF xxxx'; block right; echo '#=GC RF xxxx'; echo //; } >joined.sto
{ echo 'CLUSTAL W (1.83)'; block left; block right; } >joined.aln
fit family.fa fasta
for file in joined.sto joined.aln; do
  fit $file joined
  [ $? -eq 2 ] || fail "$file was read"
  says err "'alpha' again, as the first of 4 sequences"
  command=$(sed -n "s/.*blocks: \(awk .*alignment\.[a-z]*\).*/\1/p" err)
  bash -c "$command" || fail "the advice: $command"
  fit alignment.${file##*.} mended
  cmp mended-*/scores.csv fasta-*/scores.csv || fail "$file as advised reads otherwise"
  rm -r mended-*
done
# Names that Clustal has cut may be equal.
{ echo 'CLUSTAL'; for k in 0 1 2 3; do echo "cut ${left[k]}${right[k]}"; done; } >cut.aln
fit cut.aln cut
cmp cut-*/scores.csv fasta-*/scores.csv || fail "equal names"
# Without its first line.
sed 1d alignment.sto >headless.sto
{ block left; echo '           *  *'; echo; block right; echo '            ** '; } >headless.aln
sed -i 's/alpha/alpha1/; s/beta/beta2/' headless.*
for file in headless.sto headless.aln; do
  fit $file headless
  command=$(sed -n "s/.*As [A-Z][a-z]*: \((echo .*alignment\.[a-z]*\).*/\1/p" err)
  bash -c "$command" || fail "no advice: $(cat err)"
  fit alignment.${file##*.} headless
  cmp headless-*/scores.csv fasta-*/scores.csv || fail "$file as advised reads otherwise: $(cat err)"
  rm -r headless-*
done
finish
