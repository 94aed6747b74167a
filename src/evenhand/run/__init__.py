"""Plan to ledger: the only layer that reaches a network or holds a key."""
