"""The folder of an engine that there is not."""
