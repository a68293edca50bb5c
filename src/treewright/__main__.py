"""`python -m treewright` is the command `treewright`.

Always holds: nothing happens when this is imported.
"""

from treewright.cli import main

if __name__ == "__main__":
    main()
