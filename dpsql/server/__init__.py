"""Doors of the owner's process that others reach: what an agent is shown and may do over MCP.

Tests: tests/unit/server.
"""
