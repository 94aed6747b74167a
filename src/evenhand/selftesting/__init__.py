"""Known defects planted in a bank of the user's own shape: which of them an audit of this size would catch."""
