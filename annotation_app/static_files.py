from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedModulesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Hashes the names that ES modules import each other by, too."""

    support_js_module_import_aggregation = True
