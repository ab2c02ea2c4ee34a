"""`python -m minijit`: the command line."""

import sys

from minijit.cli.main import main

sys.exit(main())
