"""Readers of outside files: bytes in, a stream of frozen records and refusals out."""
