"""Questions priced by a metric: each is a number for every cell of a public domain, added up over the rows."""
