"""NumPy and scipy.special only: arrays in, arrays or frozen dataclasses out."""
