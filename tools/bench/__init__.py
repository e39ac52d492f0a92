"""How fast the program is, as ratios measured side by side in one run."""
