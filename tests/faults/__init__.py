"""Machines that fail under a query: killed, out of disk, out of power, with broken files and locks.

`shim` counts every step that changes a file or speaks to another process, and lets one of them fail; `scenes` is what
is done meanwhile, and what must hold afterwards; `victims` does it, time after time; `disk` is what a power cut leaves.
"""
