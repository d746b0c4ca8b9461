#!/usr/bin/env bash
# Texts within JSON, LaTeX or a table are refused: their names and marks would be words.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
refused() { # NAME OF THE FORMAT
  run 2 theory bigrams-boosting --set 'model.instance="text"' --set 'model.unit="word"' --set 'model.file="corpus"' --set model.tokens=4 --quiet
  says err "$1"
}
for json in '{"text": "the cat sat"}\n{"text": "the dog ran"}\n' '{"train": {"text": ["the cat"]}}'; do
  printf "$json" >corpus
  refused "a JSON file"
  says err "jq -r .text FILE"
done
for json in '[\n  {"text": "the cat sat"}]\n' '["the cat sat", "the dog"]\n'; do
  printf "$json" >corpus
  refused "a JSON file"
  says err "jq -r '.[].text' FILE"
done
printf '%% a paper\n\\documentclass{article}\n\\begin{document}\nthe cat\n\\end{document}\n' >corpus
refused "a LaTeX file"
for table in 'id,text,label\n1,"the cat sat",0\n' 'text\tlabel\nthe cat sat\t0\n' ',sentence\n0,the cat sat\n' '"id","text"\n'; do
  printf "$table" >corpus
  refused "a table with a column of texts"
done
# Prose that begins with a bracket, a brace or names is a text.
for _ in 1 2 3 4 5 6 7 8 9; do
  for prose in '[The cat] sat on "the" mat.\n' '{"Sit," he said.}\n' '["Sit," he said.]\n' 'Text, context, and the cat\n'; do printf "$prose"; done
done >prose
for first in 1 2 3 4; do
  tail -n +$first prose >corpus
  run 0 theory bigrams-boosting --set 'model.instance="text"' --set 'model.unit="word"' --set 'model.file="corpus"' --set model.tokens=4 --quiet
done
finish
