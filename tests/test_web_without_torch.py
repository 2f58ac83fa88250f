import subprocess
import sys

PROGRAM = """
import sys
import annotation_app.wsgi
from django.urls import get_resolver
get_resolver().url_patterns
from django.test import Client
Client().get("/")
heavy = {"torch", "transformers", "faiss", "pyarrow", "workers.propose"} & set(sys.modules)
sys.exit(f"imported: {sorted(heavy)}" if heavy else 0)
"""


def test_no_web_process_imports_torch() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
