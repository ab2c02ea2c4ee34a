"""Symbolic execution of one call: from bytecode to regions of the intermediate form."""
