"""What was spent, and by whom: durable, append-only, or refused."""
