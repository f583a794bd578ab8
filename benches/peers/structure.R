# Graphs that bnlearn learns, for benches/python/structure.py: table (CSV), kinds (CSV: column, kind) and learner in, edges (CSV) out.
# Called without arguments, it prints bnlearn's version.
suppressPackageStartupMessages(library(bnlearn))
given <- commandArgs(trailingOnly = TRUE)
if (length(given) == 0) {
    cat("bnlearn", as.character(packageVersion("bnlearn")), "\n")
    quit("no")
}
kinds <- read.csv(given[2], colClasses = "character")
table <- read.csv(given[1], colClasses = "character")
for (i in seq_len(nrow(kinds))) {
    name <- kinds$column[i]
    table[[name]] <- if (kinds$kind[i] == "number") as.numeric(table[[name]]) else factor(table[[name]])
}
before <- proc.time()[["user.self"]]
stopifnot(given[3] == "bnlearn tabu CG-BIC")
net <- tabu(table, score = "bic-cg")
spent <- proc.time()[["user.self"]] - before
write.csv(arcs(net), given[4], row.names = FALSE)
cat("seconds", spent, "\n")
