"""What a server says of its model before the first conversation: GET /v1/models. Decides nothing."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from duet_client.address import headers, session_url
from duet_client.errors import Unauthorized, Unreachable

_TIMEOUT_S = 20.0
_KEPT = ("trained", "capacity", "sampling", "lag_frames", "context_frames")


def server_facts(server: str) -> dict[str, Any]:
    """`model` (its name) and what else is known of it; nothing where the server has no such page.

    Raises:
        ConnectError: nobody answers there, or not to us.
    """
    live = session_url(server, binary=False)
    url = "http" + live.removeprefix("ws").removesuffix("live/sessions") + "models"
    try:
        request = urllib.request.Request(url, headers=headers(None))
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            return _facts(json.loads(answer.read()))
    except urllib.error.HTTPError as refused:
        refused.close()
        if refused.code == 401:
            raise Unauthorized("the API key is missing or wrong (set DUET_API_KEY)") from None
        return {}
    except OSError as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise Unreachable(f"{server} cannot be reached: {reason}") from None
    except ValueError:
        return {}


def _facts(answer: Any) -> dict[str, Any]:
    try:
        entry = answer["data"][0]
        own = entry.get("duet", {})
        return {"model": entry["id"]} | {key: own[key] for key in _KEPT if key in own}
    except (KeyError, IndexError, TypeError, AttributeError):
        return {}
