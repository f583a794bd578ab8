"""`python -m arbornet`: the shell's commands."""

import sys

from arbornet.cli import main

sys.exit(main())
