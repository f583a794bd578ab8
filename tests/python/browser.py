"""A headless Chromium spoken to over its debugging pipe: enough to click, type, look and read the console."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Page:
    """One open page."""

    def __init__(self, to_browser: int, from_browser: int):
        self._to, self._from = to_browser, from_browser
        self._last = 0
        self._rest = b""
        self.console: list[str] = []
        self.requests: list[str] = []
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the DevTools protocol, and its result."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def wait(self, event: str) -> None:
        """Reads on until the event comes."""
        while True:
            message = self._read()
            self._note(message)
            if message.get("method") == event:
                return

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._from, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has gone")
            self._rest += piece
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = event["params"]["exceptionDetails"]
                self.console.append(details.get("exception", {}).get("description", details["text"]))
            case "Runtime.consoleAPICalled":
                self.console.append(str([a.get("value") for a in event["params"]["args"]]))
            case "Log.entryAdded":
                self.console.append(event["params"]["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(event["params"]["request"]["url"])

    def open(self, path: Path, width: int = 1440, height: int = 900, dark: bool = False) -> None:
        """Opens a file from disk."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", media="", features=scheme)
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("Page.loadEventFired")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """Clicks the middle of an element with the mouse."""
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'nearest'});"
            "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        self.drag((x, y), (x, y))

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Presses at the start, moves, lets go at the end."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=start[0], y=start[1])
        for kind, (x, y) in (("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)):
            if kind != "mouseMoved" or start != end:
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def press(self, key: str) -> None:
        """Presses and lets go of a key."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        said = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        code = codes.get(key, 0)
        for kind in ("keyDown", "keyUp"):
            extra = said if kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **extra)

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """Writes a PNG of what is seen, or of the whole page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self, path: Path) -> None:
        """Prints."""
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))


@contextmanager
def browser() -> Iterator[Page]:
    """A browser with one page, ended with the block."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The browser reads commands from descriptor 3 and writes answers to 4.
        command = f'exec "$@" 3<&{to_read} 4>&{from_write}'
        process = subprocess.Popen(
            ["bash", "-c", command, "bash", str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={profile}", "--remote-debugging-pipe"],
            pass_fds=(to_read, from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(from_write)
        try:
            yield Page(to_write, from_read)
        finally:
            process.terminate()
            process.wait(20)
            os.close(to_write)
            os.close(from_read)
