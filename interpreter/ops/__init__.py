"""Handlers of the neutral opcodes, a module for each family."""
