"""From judgments to the figure in the paper: arrays in, results out; no Django, no database."""
