"""Evenhand measures a language model as a judge or grader."""
