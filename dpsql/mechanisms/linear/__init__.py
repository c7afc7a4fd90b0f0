"""Linear queries priced by a metric: exact numbers from the counts of cells, released with the noise that it asks for.

CellQuery         what a row in each cell of the domain adds, and to which group
scales_for        the noise of several queries that share one price
CellsRelease      counts of cells in, one noised answer per group out
"""
