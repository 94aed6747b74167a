"""Audits of one judge over time: what changed between two, and a control chart of many."""
