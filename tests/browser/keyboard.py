"""Keys as a person presses them, who looks at a question before answering it."""

from playwright.sync_api import Page


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.locator("#answers.is-settling").wait_for(state="detached")
        page.keyboard.press(key)


def press_in_haste(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
