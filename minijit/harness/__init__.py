"""What `minijit.testing` is made of: object graphs as text, runs that are recorded, and their comparison."""
