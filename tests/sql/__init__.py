"""The SQL that analysts write: what is accepted and what it becomes, what is refused and how it is said."""
