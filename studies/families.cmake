# The families of studies, in the order of `attica list`. A family is a folder of that name in core, theory, sim, studies and
# tests, those of them that it needs.
set(ATTICA_EVERY_FAMILY
  gauss
  potts
  topics
  joma
  bigrams
  icl
  language
  masked
  init
  trees
)
