"""The verdict table: what a file is read as, on which scale, with every row accounted for."""
