"""Looking for repositories of Lean on GitHub, the most starred first."""

import os
from collections.abc import Collection, Iterator

import httpx2

from nanoproof.common.errors import UserError

TOKEN_VARIABLE = "GITHUB_ACCESS_TOKEN"
"""A token is not needed; with one GitHub answers more often."""
API_VARIABLE, API = "GITHUB_API_URL", "https://api.github.com"
"""Where GitHub's API is; an installation of a company has its own address."""
PAGE = 100
SECONDS = 30.0
LEFT_OUT = (
    "leanprover/lean4",
    "leanprover/std4",
    "leanprover-community/aesop",
    "leanprover-community/batteries",
    "leanprover-community/mathlib",
    "leanprover-community/mathlib4",
)
"""Lean itself, its libraries, and Mathlib, on which provers are trained already."""


def popular_repositories(left_out: Collection[str] = LEFT_OUT) -> Iterator[str]:
    """Yield the addresses of repositories whose language is Lean, but those named `owner/name` in `left_out`.

    Raises UserError where GitHub cannot be reached, or refuses.
    """
    base = os.environ.get(API_VARIABLE, "").rstrip("/") or API
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    query: dict[str, str | int] = {"q": "language:Lean", "sort": "stars", "order": "desc", "per_page": PAGE, "page": 0}
    while True:
        query["page"] = int(query["page"]) + 1
        try:
            answer = httpx2.get(f"{base}/search/repositories", params=query, headers=headers, timeout=SECONDS)
            answer.raise_for_status()
            items = answer.json()["items"]
            # All of a page before any is passed on: a damaged answer is none.
            listed = [(str(item["full_name"]), str(item["clone_url"])) for item in items]
        except httpx2.HTTPStatusError as error:
            raise UserError(f"{base} answered {error.response.status_code} to a search for repositories") from None
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise UserError(f"repositories cannot be searched for, {base} cannot be reached: {error}") from None
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{base} answered something else than a list of repositories") from error
        for name, address in listed:
            if name not in left_out:
                yield address.removesuffix(".git")
        if len(listed) < PAGE:  # the last page
            return
