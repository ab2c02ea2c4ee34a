"""Regions written as Python: names, expressions, statements, control flow, and what they call when they run."""
