"""`python -m arbornet.cli`."""

import sys

from arbornet.cli import main

sys.exit(main())
