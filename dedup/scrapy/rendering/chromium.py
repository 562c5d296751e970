"""Where Chromium is, and how it is started."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings

from dedup.scrapy.rendering.bounds import Bounds

_SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
"""Chromium without windows: the same pages for half of the CPU time."""

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_MISSING = (
    "DEDUP_RENDER needs Chromium, which was not found; install it: apt-get install"
    " chromium-headless-shell (or chromium), or: playwright install chromium"
)

_SWITCHES = (
    "--disable-quic",  # UDP does not pass the proxy
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # names are the proxy's matter
    "--dns-prefetch-disable",
    "--no-pings",
    "--block-new-web-contents",  # Chromium without windows has no other way to block popups
    "--blink-settings=imagesEnabled=false",
    "--disable-remote-fonts",
    "--autoplay-policy=user-gesture-required",
    "--mute-audio",
    "--disable-gpu",
    "--disable-notifications",
    "--deny-permission-prompts",
    "--disable-file-system",
    "--disable-speech-api",
    "--disable-domain-reliability",
)

_NOT_OF_PLAYWRIGHT = ("--disable-popup-blocking", "--disable-ipc-flooding-protection")
"""Switches of Playwright that lift bounds. Without the second, a page changes its address 200 times
in ten seconds at most (Blink's `NavigationRateLimiter`): each change takes the driver time."""


def check_settings(settings: BaseSettings) -> None:
    """Raises `ValueError` if the settings name no browser that can be started and bounded."""
    for name in ("PLAYWRIGHT_CDP_URL", "PLAYWRIGHT_CONNECT_URL"):
        if settings.get(name):
            raise ValueError(
                f"DEDUP_RENDER starts a browser of its own, which {name} rules out; remove {name}"
            )
    if settings.get("PLAYWRIGHT_BROWSER_TYPE", "chromium") != "chromium":
        raise ValueError("PLAYWRIGHT_BROWSER_TYPE must be chromium for DEDUP_RENDER")
    find_program(settings.getdict("PLAYWRIGHT_LAUNCH_OPTIONS"))


def find_program(launch_options: Mapping[str, Any]) -> str | None:
    """The user's choice, the system's Chromium; None: the one that Playwright has installed.

    Raises:
        ValueError: there is none.
    """
    if launch_options.get("executable_path"):
        return str(launch_options["executable_path"])
    if launch_options.get("channel"):
        return None
    shells: tuple[str, ...] = _SHELLS if launch_options.get("headless", True) else ()
    for name in (*shells, *_PROGRAMS):
        if program := shutil.which(name):
            return program
    if _has_playwrights():
        return None
    raise ValueError(_MISSING)


def launch_options(settings: BaseSettings, bounds: Bounds, proxy_url: str) -> dict[str, Any]:
    """Options of Playwright's `launch`: the user's own, without those that would lift a bound."""
    given = settings.getdict("PLAYWRIGHT_LAUNCH_OPTIONS")
    program = find_program(given)
    ignored = given.get("ignore_default_args")
    return {
        **given,
        **({"executable_path": program} if program else {}),
        "args": [
            *given.get("args", ()),
            *_SWITCHES,
            f"--js-flags=--max-old-space-size={bounds.heap_mb}",
        ],
        "ignore_default_args": [
            *(ignored if isinstance(ignored, (list, tuple)) else ()),
            *_NOT_OF_PLAYWRIGHT,
        ],
        "proxy": {"server": proxy_url, "bypass": "<-loopback>"},
        # Chromium's sandbox cannot be set up by root.
        "chromium_sandbox": given.get("chromium_sandbox", not _is_root()),
    }


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _has_playwrights() -> bool:
    """Has `playwright install` installed a Chromium?"""
    folder = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    folders = (
        [Path(folder)]
        if folder and folder != "0"
        else [
            Path.home() / ".cache/ms-playwright",
            Path.home() / "Library/Caches/ms-playwright",
            Path.home() / "AppData/Local/ms-playwright",
        ]
    )
    return any(found for each in folders for found in each.glob("chromium*"))
