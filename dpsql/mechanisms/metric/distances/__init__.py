"""The distances of values and of rows."""
