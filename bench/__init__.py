import os

# Read when numpy is imported. Threads of linear algebra burn CPU waiting for each other where the
# machine has other things to do; one each makes what is measured and its peers comparable.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
