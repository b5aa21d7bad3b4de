"""`python -m vault_memory`: the command line."""

import sys

from vault_memory.surfaces.cli import main

if __name__ == "__main__":
    sys.exit(main())
