class ServersError(Exception):
    """The servers cannot run, for a reason that the reader can do something about."""


class FolderInUse(ServersError):
    pass
