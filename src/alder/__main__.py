"""`python -m alder` is the command line."""

import sys

from alder.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
