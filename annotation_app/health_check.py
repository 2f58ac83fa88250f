"""The container's health: asks the web server on this machine as the proxy would."""

import os
import sys
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit


def main() -> int:
    site = urlsplit(os.environ["SITE_URL"])
    headers = {"Host": site.netloc, "X-Forwarded-Proto": site.scheme}
    connection = HTTPConnection("127.0.0.1", int(os.environ.get("PORT", "8000")), timeout=4)
    try:
        connection.request("GET", "/health/", headers=headers)
        return 0 if connection.getresponse().status == 200 else 1
    except (OSError, HTTPException) as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
