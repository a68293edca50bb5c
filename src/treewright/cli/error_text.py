"""Messages and remarks of the library, with Python arguments replaced by options of the command line."""

from __future__ import annotations

import re

#: A pattern of the library's messages, and what the command line writes instead.
OPTIONS = (
    (r"missing=Fractional\(\)|missing='fractional'", "--missing-policy fractional"),
    (r"task='(\w+)'", r"--task \1"),
    (r"learn with pruning=None", "--pruning none"),
    (r"CostComplexityCV\(\)", "--pruning cost-complexity-cv"),
    (r"ReducedError\(\)", "--pruning reduced-error"),
    (r"kinds=\{'(.*?)': '(\w+)'\}", r"--kind \1=\2"),
    (r"criterion=ChiSquare\(\) and regression=FTest\(\)", "--algorithm chaid"),
    (r"numeric=Binned\(\d+\)", "--numeric binned"),
    (r"unseen='missing' or 'majority'", "--unseen missing or majority when learning"),
    (r"(?<=use )CART or CHAID", "--algorithm cart or chaid"),
    (r"give (it|them) as data=", r"give \1 with --data FILE"),
    (r"use ErrorBased\(raising=False\)", "use error-based:raising=no"),
    (r"class_weight='balanced', costs= or priors=", "--class-weight balanced, --costs or --priors"),
    (r"class_weight(?= out)", "--class-weight"),
    (r"\bpruning=None", "--pruning none"),
    (r"a (\w+) min_samples_(\w+)", r"a \1 --min-\2"),
    (r"a (\w+) max_leaf_nodes", r"a \1 --max-leaves"),
    (r"a (\w+) min_impurity_decrease", r"a \1 --min-decrease"),
    (r"a (\w+) max_(depth|impurity)", r"a \1 --max-\2"),
    (r"a larger significance", "a larger --significance"),
    (r"another criterion", "another --criterion"),
    (r"text\(tree, max_depth=…, max_lines=…\) shows more", "treewright show --depth … --lines … shows more"),
)


def with_cli_options(message: str) -> str:
    """Replace Python arguments in a message by options.

    >>> with_cli_options("fill them in, or choose missing=Fractional() or another policy")
    'fill them in, or choose --missing-policy fractional or another policy'
    """
    for pattern, option in OPTIONS:
        message = re.sub(pattern, option, message)
    return message
