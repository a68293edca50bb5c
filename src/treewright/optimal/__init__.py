"""The best tree of small depth, with a proof."""
