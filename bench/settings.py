"""Production's settings, with static files collected beside the measurement."""

import os
from pathlib import Path

from annotation_app.settings import *  # noqa: F403

STATIC_ROOT = Path(os.environ["STATIC_ROOT"])
# Raters log in before the clock starts, and need not wait for it.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
