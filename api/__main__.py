"""`python -m motorpool`."""

import sys

from motorpool.api.main import main

sys.exit(main())
