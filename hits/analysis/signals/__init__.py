"""Signals: what speaks against a page or a person, each with its figure and in words."""
