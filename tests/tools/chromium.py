"""Code shared by the scripts that test pages in Chromium."""

from playwright.sync_api import expect

WIDTHS = [(390, 844), (900, 1000), (1600, 1000)]
# Axe's rules for the required standards.
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
# Seconds after which a wait counts as hung.
PATIENCE = 180


def launch(playwright, path):
    """Starts Chromium. Expectations about its pages fail only after a hang."""
    expect.set_options(timeout=1000 * PATIENCE)
    return playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
