"""Figures as tables: with their intervals, how many they are of, and why where there is none."""
