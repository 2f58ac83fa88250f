"""Real PostgreSQL and Valkey servers on 127.0.0.1, with their data in a folder of ours."""

from annotation_app.embedded.errors import FolderInUse, ServersError
from annotation_app.embedded.ownership import local_secret, write_private
from annotation_app.embedded.servers import (
    Servers,
    erase_data,
    running_servers,
    servers,
    urls_of_running_servers,
)

__all__ = [
    "FolderInUse",
    "Servers",
    "ServersError",
    "erase_data",
    "local_secret",
    "running_servers",
    "servers",
    "urls_of_running_servers",
    "write_private",
]
