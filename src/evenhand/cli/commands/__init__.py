"""Every module here is a command: it defines ``command`` and is found by its file name."""
