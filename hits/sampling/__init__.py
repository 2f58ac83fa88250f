"""Which units a study asks about: ids, vectors, ranked lists in, ids out; no Django, no database.

Whatever order things are given in, the result is the same: ties are broken by id, and a draw by a
given Random goes over ids in their order.
"""
