"""The browser that tests, benchmarks and pictures look through: this machine's own Chromium, or Playwright's, without a window."""
import contextlib
import shutil

PROGRAMS = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome", "google-chrome-stable")
# WebGL in software, as a machine without a graphics card has it; nothing is asked of any network
FLAGS = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-quic",
         "--disable-background-networking", "--disable-component-update", "--disable-sync")
REMEDY = ("needs a browser: chromium on this machine (apt-get install chromium), or `playwright install chromium`; and pip install "
          "playwright")


class NoBrowser(RuntimeError):
    """There is none here, or it does not start; says what to install."""


@contextlib.contextmanager
def chromium():
    """A playwright Browser that has been started."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise NoBrowser(REMEDY) from error
    with sync_playwright() as playwright:
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)         # None: the one that Playwright installed
        try:
            browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        except Error as error:
            raise NoBrowser(f"{REMEDY} ({str(error).strip().splitlines()[0]})") from error
        try:
            yield browser
        finally:
            browser.close()


if __name__ == "__main__":              # what scripts/install_browser asks: is there one, and which
    try:
        with chromium() as found:
            print(f"Chromium {found.version}")
    except NoBrowser as missing:
        raise SystemExit(str(missing)) from None
