"""Makes a site of the repository's own pages, as hooks of MkDocs.

The pages stay where a code host shows them. Before the build they are copied to target/site-pages with their
folders, so that links between them need no change. A link to any other file of the repository leads to that
file's source, rendered as a page. The navigation is the index, docs/README.md. After the build every link of
the result is followed.
"""

import html
import posixpath
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mkdocs.exceptions import Abort

try:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import TextLexer, get_lexer_for_filename
    from pygments.util import ClassNotFound
except ImportError as missing:
    raise Abort("Pygments is missing: install python3-pygments, or pip install pygments") from missing

ROOT = Path(__file__).resolve().parents[2]
STAGED = ROOT / "target" / "site-pages"
API = ROOT / "target" / "reports" / "apidocs"
INDEX = "docs/README.md"
COPIED = {".md", ".svg", ".png"}

LINK = re.compile(r"(?m)(\]\(|^\[[^\]]+\]: )([^)\s]+)")
ENTRY = re.compile(r"^(?:-|\d+\.) ")
TITLED = re.compile(r"\[([^\]]+)\]\(([^)\s#]+\.md)\)")
COLOURS = HtmlFormatter(style="default", linenos="table", anchorlinenos=True, lineanchors="line")


def on_config(config):
    """Copies the pages and names them in the order of the index."""
    shutil.rmtree(STAGED, ignore_errors=True)
    tracked = _tracked()
    for page in (path for path in tracked if path.endswith(".md")):
        _write(page, _with_links_into_the_site(page, (ROOT / page).read_text("utf-8"), tracked))
    style = (ROOT / "docs" / "site" / "site.css").read_text("utf-8")
    _write("site.css", style + COLOURS.get_style_defs(".codehilite") + COLOURS.get_style_defs(".source"))
    config["docs_dir"] = str(STAGED)
    config["nav"] = _navigation()
    return config


def on_post_build(config):
    """Fails if a link leads to no file, or to no anchor in it. Javadoc checks its own."""
    site = Path(config["site_dir"])
    pages = {page: _Page(page) for page in site.rglob("*.html") if not page.is_relative_to(site / "api")}
    dead = []
    for page, content in pages.items():
        for link in content.links:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            anchors = pages[target].anchors if target in pages else None
            if not target.is_file() or (address.fragment and anchors is not None and address.fragment not in anchors):
                dead.append(f"{page.relative_to(site)}: {link}")
    if dead:
        raise Abort("Links that lead nowhere:\n" + "\n".join(sorted(set(dead))))


def _tracked():
    """The repository's files, with those that are new and not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\n")
    return sorted(path for path in listed if (ROOT / path).is_file())


def _write(path, text):
    target = STAGED / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, "utf-8")


def _with_links_into_the_site(page, text, tracked):
    def moved(match):
        begin, link = match.groups()
        address = urlsplit(link)
        if address.scheme or not address.path:
            return match.group(0)
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), address.path))
        target = _in_the_site(path, tracked)
        relative = posixpath.relpath(target, posixpath.dirname(page) or ".")
        return begin + relative + (f"#{address.fragment}" if address.fragment else "")

    parts = re.split(r"(?ms)(^ *```.*?^ *```$)", text)
    return "".join(part if index % 2 else LINK.sub(moved, part) for index, part in enumerate(parts))


def _in_the_site(path, tracked):
    """Where the site has a file of the repository; a source is rendered at its first link."""
    if path + "/README.md" in tracked:
        return path + "/README.md"
    if Path(path).suffix in COPIED or not (ROOT / path).exists():
        if path in tracked and not path.endswith(".md"):
            (STAGED / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, STAGED / path)
        return path
    # MkDocs leaves out folders whose names begin with a dot.
    rendered = "source/" + path.lstrip(".") + (".html" if path in tracked else "/index.html")
    if not (STAGED / rendered).exists():
        _write(rendered, _source(path, rendered, tracked))
    return rendered


def _source(path, rendered, tracked):
    up = posixpath.relpath(".", posixpath.dirname(rendered))
    if path in tracked:
        text = (ROOT / path).read_text("utf-8")
        try:
            lexer = get_lexer_for_filename(path)
        except ClassNotFound:
            lexer = TextLexer()
        content = highlight(text, lexer, COLOURS)
    else:
        files = [file for file in tracked if file.startswith(path + "/")]
        content = "<ul>" + "".join(
            f'<li><a href="{posixpath.relpath(_in_the_site(file, tracked), posixpath.dirname(rendered))}">'
            f"{html.escape(posixpath.relpath(file, path))}</a></li>"
            for file in files if not file.endswith(".md")
        ) + "</ul>"
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(path)}</title>'
        f'<link rel="stylesheet" href="{up}/site.css"></head><body class="source">'
        f'<p><a href="{up}/index.html">Documentation</a> · <code>{html.escape(path)}</code></p>{content}</body></html>'
    )


def _navigation():
    nav = [{"What it is": "README.md"}, {"All pages": INDEX}]
    entries = nav
    for line in (ROOT / INDEX).read_text("utf-8").splitlines():
        if line.startswith("## "):
            entries = []
            nav.append({line[3:]: entries})
        elif ENTRY.match(line):
            entries += _entries(INDEX, line)
    if API.is_dir():
        shutil.copytree(API, STAGED / "api")
        nav.append({"Java API": "api/index.html"})
    return nav


def _entries(page, line):
    """The pages that a line of an index names; an index among them brings its own."""
    found = []
    for title, link in TITLED.findall(line):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
        own = []
        if path.endswith("/README.md"):
            for below in (ROOT / path).read_text("utf-8").splitlines():
                if re.match(r"^\d+\. \[", below):
                    own += _entries(path, below)
        if path != "README.md":
            found.append({title: [{"All": path}] + own if own else path})
    return found


class _Page(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)
