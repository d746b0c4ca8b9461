#!/usr/bin/env bash
# Contractions of stop words are stop words: 15 words of content are left.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
run_topics() {
  "$program" run topics-text --set "model.file=\"$1\"" --set model.lda_topics=3 --set model.lda_sweeps=20 --set model.topic_words=22 \
    --set model.share=0.4 --set sim.length=5 --replicates 1 --name $2 --out . --quiet >out 2>err
  says $2-*/theory.json '"vocabulary":15'
}
run_topics speech.txt speech
sed "s/'/\xE2\x80\x99/g" speech.txt >typographic.txt
run_topics typographic.txt typographic
finish
