"""The demo's own marketplace: a second web server of the same code, on the next port."""

from pathlib import Path

from annotation_app.embedded import local_secret


def marketplace_port(port: int) -> int:
    return port + 1


def marketplace_environment(folder: Path, port: int) -> dict[str, str]:
    """The marketplace's address, and the channel through which studies are published there."""
    host = f"127.0.0.1:{marketplace_port(port)}"
    return {
        "MARKETPLACE_HOST": host,
        "MARKETPLACE_HTTP_HOSTS": "127.0.0.1,localhost",
        "CHANNELS": "local",
        "CHANNEL_LOCAL_URL": f"http://{host}",
        "CHANNEL_LOCAL_SUBMIT": f"http://{host}",
        "CHANNEL_LOCAL_ACCESS_KEY": _access_key(folder),
        "CHANNEL_LOCAL_SECRET_KEY": local_secret(_secret_file(folder)),
    }


def marketplace_people(folder: Path) -> tuple[str, ...]:
    """The command that opens the demo's accounts there, unless an earlier start has."""
    key, secret = _access_key(folder), _secret_file(folder)
    return ("marketplace_demo", f"--access-key={key}", f"--secret-key-file={secret}")


def has_marketplace(folder: Path) -> bool:
    return _secret_file(folder).exists()


def _access_key(folder: Path) -> str:
    return f"AK{local_secret(folder / 'marketplace_access_key')[:18].upper()}"


def _secret_file(folder: Path) -> Path:
    return folder / "marketplace_secret_key"
