"""Published numbers beside the ones that this package computes, line by line."""
