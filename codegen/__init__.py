"""From regions to code objects."""
