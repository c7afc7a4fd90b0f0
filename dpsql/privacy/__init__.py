"""The mathematics of privacy and its book-keeping: losses, budgets, the ledger, exact noise. No SQL, no engine."""
