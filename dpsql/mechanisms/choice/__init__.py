"""Choices among the values of the data: quantiles and modes."""
