"""``python -m aldsurv`` is the command ``aldsurv``."""

import sys

from aldsurv.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
