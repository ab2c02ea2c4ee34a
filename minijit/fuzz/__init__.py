"""Generated programs, run plain and compiled, and compared in everything that can be seen."""
