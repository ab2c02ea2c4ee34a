"""The `minijit` command: one module a command, each with `add_arguments` and `command`."""
