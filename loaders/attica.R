# Reads the run folders of attica. Base R only.
#
#   source("attica.R")
#   run <- attica_find("mine")
#   subset(attica_results(run), kind == "sim" & series == "test_error")

# The newest run folder called `name` below `out`, `name-` and the eight digits of its hash; `name` may also be the path of a
# run.
attica_find <- function(name, out = "runs") {
  if (file.exists(file.path(name, "run.json"))) return(name)
  folders <- list.files(out)
  ours <- startsWith(folders, paste0(name, "-")) & grepl("^[0-9a-f]{8}$", substring(folders, nchar(name) + 2))
  runs <- file.path(out, folders[ours])
  runs <- runs[file.exists(file.path(runs, "run.json"))]
  if (length(runs) == 0) stop("no run '", name, "' in '", out, "'")
  runs[which.max(file.mtime(file.path(runs, "run.json")))]
}

# Theory and simulation as a data frame: study, series, kind ("theory" or "sim"), the coordinates of the point, x_name, x,
# mean, sem, sd, n. Where there is none (the spread of a theory, say) the value is NA.
attica_results <- function(run) attica_table(file.path(run, "results.csv"))

# Every replicate as a data frame: study, series, the coordinates of the point, x_name, x, replicate (from 0), value.
attica_replicates <- function(run) attica_table(file.path(run, "replicates.csv"))

# A JSON record as lists and vectors: "check" (the verdict, point by point), "theory" (with allowances and diagnostics),
# "run" or "provenance". Null is NA; arrays of numbers are vectors.
attica_record <- function(run, name = "check") {
  path <- file.path(run, paste0(name, ".json"))
  attica_json(readChar(path, file.size(path), useBytes = TRUE))
}

attica_table <- function(path) {
  utils::read.csv(path, na.strings = "", encoding = "UTF-8", check.names = FALSE, stringsAsFactors = FALSE)
}

# JSON text as lists and vectors: cut into tokens, then one value at a time.
attica_json <- function(text) {
  Encoding(text) <- "UTF-8"
  tokens <- regmatches(text, gregexpr('"(?:[^"\\\\]++|\\\\.)*+"|[][{}:,]|[^][{}:,"\\s]+', text, perl = TRUE))[[1]]
  at <- 0
  take <- function() tokens[at <<- at + 1]
  string <- function(token) parse(text = token, keep.source = FALSE, encoding = "UTF-8")[[1]]  # R escapes as JSON does
  value <- function(token) {
    if (token == "{") {
      fields <- list()
      while ((key <- take()) != "}") {
        if (key == ",") key <- take()
        take()  # the colon
        fields[string(key)] <- list(value(take()))
      }
      fields
    } else if (token == "[") {
      items <- list()
      flat <- TRUE
      while ((item <- take()) != "]") {
        if (item != ",") items[[length(items) + 1]] <- value(item)
        if (item %in% c("[", "{")) flat <- FALSE
      }
      if (flat && length(items) > 0) unlist(items) else items
    } else if (startsWith(token, '"')) {
      string(token)
    } else {
      switch(token, "true" = TRUE, "false" = FALSE, "null" = NA, as.numeric(token))
    }
  }
  value(take())
}
