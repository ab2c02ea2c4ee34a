"""What an operation does by Python's rules, whichever opcode asks: attributes, calls, iteration, operators."""
