"""`minijit run`, for a checkout whose command line is not installed."""

import argparse
import sys

from minijit.cli.run import add_arguments, command

parser = argparse.ArgumentParser(prog="minijit run")
add_arguments(parser)
sys.exit(command(parser.parse_args()))
