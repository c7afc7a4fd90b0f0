# RPostgreSQL: tables, columns, rows.
suppressMessages(library(RPostgreSQL))
where <- commandArgs(TRUE)
connection <- dbConnect(
  PostgreSQL(), host = "127.0.0.1", port = as.integer(where[1]), dbname = "clinic", user = "ana", password = where[2]
)
cat("table", dbListTables(connection), "\n")
cat(dbListFields(connection, "people"), "\n")
rows <- dbGetQuery(connection, "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
cat(paste(rows$sex, "is", rows$n, "\n"))
invisible(dbDisconnect(connection))
