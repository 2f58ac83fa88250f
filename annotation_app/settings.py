from pathlib import Path

import dj_database_url
import structlog
from django.contrib.messages import constants as messages

from annotation_app.environment import Environment

BASE_DIR = Path(__file__).resolve().parent.parent

env = Environment()

DEBUG = env.debug()
SECRET_KEY = env.secret_key()
ALLOWED_HOSTS = env.allowed_hosts()
CSRF_TRUSTED_ORIGINS = env.names("CSRF_TRUSTED_ORIGINS")
SITE_URL = env.site_url()
SERVED_OVER_HTTPS = SITE_URL.startswith("https://")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "rest_framework.authtoken",
    "drf_spectacular",
    "axes",
    "hits",
    "hits.marketplace",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "hits.views.middleware.request_log",
    "hits.marketplace.middleware.OwnHost",
    "hits.views.middleware.worker_pages",
    "hits.views.middleware.content_security",
    "hits.views.middleware.no_nul",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
    "hits.views.middleware.readable_refusals",
]

ROOT_URLCONF = "annotation_app.urls"
WSGI_APPLICATION = "annotation_app.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

MESSAGE_TAGS = {
    messages.DEBUG: "",
    messages.INFO: "",
    messages.SUCCESS: "good",
    messages.WARNING: "warn",
    messages.ERROR: "bad",
}

DATABASES = {
    "default": dj_database_url.parse(env.database_url(), conn_max_age=600),
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.redis_url()
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL},
}
CSRF_FAILURE_VIEW = "hits.views.failures.csrf_failure"
SESSION_ENGINE = "hits.views.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SERVED_OVER_HTTPS
SESSION_COOKIE_AGE = 14 * 24 * 3600

SECURE_SSL_REDIRECT = SERVED_OVER_HTTPS and env.flag("SSL_REDIRECT", True)
SECURE_HSTS_SECONDS = env.number("HSTS_SECONDS", 0)
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
BEHIND_PROXY = env.flag("BEHIND_PROXY")
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

SECURE_REDIRECT_EXEMPT = [r"^health/$"]

AUTH_USER_MODEL = "hits.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "hits.views.authentication.WithAccount",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
PASSWORD_RESET_TIMEOUT = 24 * 3600

AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "account/locked.html"
AXES_VERBOSE = False

EMAIL_BACKEND = env.text("EMAIL_BACKEND", "django.core.mail.backends.smtp.EmailBackend")
EMAIL_FILE_PATH = env.text("EMAIL_FILE_PATH", str(BASE_DIR / "var" / "mail"))
EMAIL_HOST = env.text("EMAIL_HOST", "localhost")
EMAIL_PORT = env.number("EMAIL_PORT", 25)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env.flag("EMAIL_USE_TLS")
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "annotation@localhost")

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("photographs", BASE_DIR / "hits" / "demo" / "photographs"),
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "annotation_app.static_files.HashedModulesStorage",
    },
}

# What turns people into pseudonyms in releases; without one it is made from the secret key.
PSEUDONYM_KEY = env.text("PSEUDONYM_KEY", "")
# s3://bucket/prefix, or empty: under DATA_DIR.
RELEASES_URL = env.text("RELEASES_URL", "").rstrip("/")
DATA_DIR = Path(env.text("DATA_DIR", str(BASE_DIR / "var" / "data")))
MODELS_DIR = Path(env.text("MODELS_DIR", str(DATA_DIR / "models")))
MODELS_QUEUE = env.text("MODELS_QUEUE", "cpu")
WORDNET_DIR = Path(env.text("WORDNET_DIR", "/usr/share/wordnet"))
# How many items are encoded, or searched for, in one part of a job that many workers share.
PART_ITEMS = env.number("PART_ITEMS", 16_384)
S3_ENDPOINT_URL = env.text("S3_ENDPOINT_URL", "") or None
MAX_IMAGE_BYTES = env.number("MAX_IMAGE_BYTES", 20 * 1024 * 1024)
MAX_IMAGE_PIXELS = env.number("MAX_IMAGE_PIXELS", 50_000_000)
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
FILE_UPLOAD_TEMP_DIR = env.text("FILE_UPLOAD_TEMP_DIR", "") or None

CHANNELS = env.channels()
SYNC_SECONDS = env.number("SYNC_SECONDS", 60)
PAY_AFTER_SECONDS = env.number("PAY_AFTER_SECONDS", 60)

CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_DEFAULT_QUEUE = "cpu"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
SWEEP_SECONDS = env.number("SWEEP_SECONDS", 5)
CELERY_BEAT_SCHEDULE = {
    "sweep": {
        "task": "workers.tasks.sweep",
        "schedule": SWEEP_SECONDS,
        "options": {"expires": SWEEP_SECONDS},
    },
    "forget expired sessions": {
        "task": "workers.tasks.forget_expired_sessions",
        "schedule": 24 * 3600,
    },
    "forget routine jobs": {"task": "workers.tasks.forget_routine_jobs", "schedule": 24 * 3600},
    "forget uploads": {"task": "workers.tasks.forget_uploads", "schedule": 24 * 3600},
}
if any("queue" in channel for channel in CHANNELS.values()):
    CELERY_BEAT_SCHEDULE["listen for hints"] = {
        "task": "workers.tasks.listen",
        "schedule": SWEEP_SECONDS,
        "options": {"expires": SWEEP_SECONDS, "queue": "marketplace"},
    }

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": [
        "hits.api.parsing.SoundJSONParser",
        "rest_framework.parsers.FormParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "hits.api.errors.answer",
    "NUM_PROXIES": int(BEHIND_PROXY),
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Annotation app",
    "DESCRIPTION": "People judge images and texts; researchers get datasets out of it.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "hits.api.schema.with_errors",
    ],
    "ENUM_NAME_OVERRIDES": {
        "ClaimState": "hits.models.publication.ClaimState",
        "IntentState": "hits.models.ledger.Intent.State",
        "PublicationState": "hits.models.publication.Publication.State",
        "AssignmentState": "hits.models.work.Assignment.State",
        "JobState": "hits.models.job.Job.State",
        "PlaceState": "hits.models.work.Slot.State",
        "StudyState": "hits.models.study.Study.State",
    },
}

# Our own marketplace answers where the request's host is this one; empty, there is none.
MARKETPLACE_HOST = env.text("MARKETPLACE_HOST", "")
MARKETPLACE_FAULTS = env.flag("MARKETPLACE_FAULTS")
MARKETPLACE_HTTP_HOSTS = env.names(
    "MARKETPLACE_HTTP_HOSTS", "" if env.is_production else "127.0.0.1,localhost"
)
MARKETPLACE_QUEUE_HOSTS = env.names("MARKETPLACE_QUEUE_HOSTS")
MARKETPLACE_SUBSCRIBERS = env.pairs("MARKETPLACE_SUBSCRIBERS")

LOG_LEVEL = env.text("LOG_LEVEL", "INFO")
LOG_PROCESSORS: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "structured": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": LOG_PROCESSORS,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.dev.ConsoleRenderer()
                if DEBUG
                else structlog.processors.JSONRenderer(sort_keys=True),
            ],
        },
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {"django.server": {"handlers": ["stderr"], "propagate": False}},
}
structlog.configure(
    processors=[
        structlog.stdlib.filter_by_level,
        *LOG_PROCESSORS,
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=structlog.stdlib.BoundLogger,
    cache_logger_on_first_use=True,
)
