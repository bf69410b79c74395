"""Checks the page that scripts/uri-document made: FOLDER has uris.json and uris.html.

usage: uri_document.py FOLDER [CHROMIUM]
"""

import html.parser
import json
import pathlib
import subprocess
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """What is visible on a page: the rows of its routes, and the text of its count."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.rows = []  # the texts of the routes that are not hidden
        self.hidden = 0
        self.requests = []  # what the page would fetch
        self.count = ""
        self.trial = None  # what TYPING has found out
        self._text = None
        self._is_count = False
        self._group_is_hidden = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        for name in ("src", "href", "srcset", "action", "poster", "data"):
            value = attributes.get(name)
            if value is not None and not value.startswith("data:"):
                self.requests.append(f"<{tag} {name}={value}>")
        self.trial = attributes.get("data-trial", self.trial)
        if tag == "tbody":
            self._group_is_hidden = "hidden" in attributes
        elif tag == "tr" and attributes.get("class") == "route":
            if "hidden" in attributes or self._group_is_hidden:
                self.hidden += 1
            else:
                self._text = []
        elif tag == "output":
            self._is_count = True

    def handle_endtag(self, tag):
        if tag == "tr" and self._text is not None:
            self.rows.append("".join(self._text))
            self._text = None
        elif tag == "output":
            self._is_count = False

    def handle_data(self, data):
        if self._text is not None:
            self._text.append(data)
        if self._is_count:
            self.count += data.strip()


TYPING = """<script>
dispatchEvent(new KeyboardEvent("keydown", { key: "/", cancelable: true }));
const focused = document.activeElement === filter;
filter.value = TEXT;
filter.dispatchEvent(new Event("input", { bubbles: true }));
document.body.dataset.trial = (focused ? "focused " : "not focused ") + location.hash;
</script></body>"""

faults = []


def expect(condition, text):
    if not condition:
        faults.append(text)


def opened(browser, folder, fragment="", name="uris.html"):
    """The page as the browser has it once its script has run, and what the browser logged."""
    url = folder.joinpath(name).resolve().as_uri() + fragment
    command = [
        browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--disable-extensions", "--no-first-run", "--disable-background-networking",
        f"--user-data-dir={folder}/profile", "--enable-logging=stderr", "--v=0",
        f"--log-net-log={folder}/net.json", "--virtual-time-budget=2000", "--dump-dom", url,
    ]
    # Without a session bus and a display, the browser complains about those, not about the page.
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    console = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
    if result.returncode != 0 or "</html>" not in result.stdout:
        print(result.stderr[-2000:])
        sys.exit(f"uri-document: {browser} ended with {result.returncode} and no page")
    return Page(result.stdout), console


def fetched(folder):
    """The addresses in the browser's log of what it asked the network for, but its own errands."""
    text = folder.joinpath("net.json").read_text()
    try:
        events = json.loads(text)["events"]
    except json.JSONDecodeError:
        # The last line may be missing where the browser ended in a hurry.
        events = json.loads(text.rstrip().rstrip(",") + "]}")["events"]
    urls = {event.get("params", {}).get("url", "") for event in events}
    own = (".google.com", ".googleapis.com", ".gvt1.com", ".gstatic.com")
    return sorted(
        url for url in urls
        if url.startswith("http") and not (urllib.parse.urlsplit(url).hostname or "").endswith(own))


def main():
    folder = pathlib.Path(sys.argv[1])
    browser = sys.argv[2] if len(sys.argv) > 2 else ""
    routes = json.loads(folder.joinpath("uris.json").read_text())["routes"]
    count = len(routes)
    source = Page(folder.joinpath("uris.html").read_text())
    expect(count > 0, "the slatefile has no routes: there is nothing to check")
    expect(len(source.rows) == count, f"{len(source.rows)} rows for {count} routes")
    expect(not source.requests, f"not in one piece: {source.requests}")
    for route, row in zip(routes, source.rows):
        for key in ("pattern", "summary", "example"):
            expect((route[key] or "") in row, f"{route[key]!r} is not in its row")

    if browser and not faults:
        # A filter that leaves some, one that leaves none, and words in any order and case.
        first = routes[0]
        words = f"{first['access'].upper()}  {first['pattern']}"
        filters = ["", first["module"], first["pattern"], words, "no such word", "%", "<b>"]
        for text in filters:
            fragment = "#filter=" + urllib.parse.quote(text) if text else ""
            page, console = opened(browser, folder, fragment)
            wanted = text.lower().split()
            matching = [
                row for route, row in zip(routes, source.rows)
                if all(word in f"{route['module']} {row}".lower() for word in wanted)]
            expect(page.rows == matching, f"filter {text!r} shows {page.rows}, not {matching}")
            expect(page.hidden == count - len(matching), f"filter {text!r} hides {page.hidden}")
            noun = "route" if count == 1 else "routes"
            said = f"{len(matching)} of {count} {noun}" if text else f"{count} {noun}"
            expect(page.count == said, f"the count says {page.count!r}, not {said!r}")
            expect(not console, f"filter {text!r}: the console says {console}")
            urls = fetched(folder)
            expect(not urls, f"filter {text!r}: the page asks for {urls}")
        expect(opened(browser, folder, "#filter=%E0%A4%A")[0].hidden == 0,
               "a filter that is no text hides something")

        # As fingers would do it: the key that leads to the filter, then the words.
        text = first["pattern"]
        typing = TYPING.replace("TEXT", json.dumps(text).replace("<", "\\u003c"))
        source_text = folder.joinpath("uris.html").read_text()
        folder.joinpath("typed.html").write_text(source_text.replace("</body>", typing))
        page, console = opened(browser, folder, name="typed.html")
        address = "#filter=" + urllib.parse.quote(text, safe="!'()*")
        expect(page.trial == f"focused {address}", f"typing leads to {page.trial!r}")
        expect(0 < len(page.rows) and page.hidden == count - len(page.rows)
               and all(text.lower() in row.lower() for row in page.rows),
               f"typing {text!r} shows {page.rows}")
        expect(not console, f"typing: the console says {console}")

    for fault in faults:
        print(f"uri-document: {fault}")
    if faults:
        sys.exit(1)
    if browser:
        print(f"uri-document: {count} routes, {len(filters)} filters tried in {browser}")
    else:
        print("uri-document: notice: no Chromium here, so the page was not opened "
              "(apt-get install chromium, or set CHROMIUM)")
        print(f"uri-document: {count} routes")


main()
