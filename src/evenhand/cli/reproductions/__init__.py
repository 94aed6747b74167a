"""Every module here is a source whose numbers are recomputed: it defines ``command`` and is found by its file name."""
