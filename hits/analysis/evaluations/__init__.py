"""Evaluations: analyses of files that researchers bring."""
