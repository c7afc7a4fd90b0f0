"""Noise for linear queries under a metric: how they share it, and what they release."""
