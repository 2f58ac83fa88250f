"""A Turkle site for production, as its documentation advises, on a database of ours."""

import os
from urllib.parse import urlsplit

DEBUG = False
SECRET_KEY = os.environ["SECRET_KEY"]
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "bench.peers.turkle.urls"
STATIC_URL = "/static/"
STATIC_ROOT = os.environ["STATIC_ROOT"]
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
X_FRAME_OPTIONS = "SAMEORIGIN"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "index"
DATA_UPLOAD_MAX_MEMORY_SIZE = FILE_UPLOAD_MAX_MEMORY_SIZE = 100 * 1024 * 1024
# Raters log in before the clock starts, and need not wait for it.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

TURKLE_SITE_NAME = "Turkle"
TURKLE_AUTO_ACCEPT_DEFAULT = True

_address = urlsplit(os.environ["DATABASE_URL"])
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _address.path[1:],
        "USER": _address.username,
        "PASSWORD": _address.password,
        "HOST": _address.hostname,
        "PORT": _address.port,
    }
}

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "turkle",
    "django.contrib.admin",
    "rest_framework",
    "rest_framework.authtoken",
    "turkle.api",
    "guardian",
    "djaa_list_filter2",
]
MIDDLEWARE = [
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "guardian.backends.ObjectPermissionBackend",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.contrib.auth.context_processors.auth",
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "turkle.utils.turkle_vars",
            ]
        },
    }
]
REST_FRAMEWORK = {
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
}
