"""Makes a site of the repository's own pages, as hooks of MkDocs.

The pages stay where a code host shows them. Before the build they are copied to site-pages, beside the site, with
their folders, so that links between them need no change. A link to any other file of the repository leads to that
file's source, rendered as a page; a link whose title is a method leads to its line. The navigation is the index,
docs/README.md. After the build every link of the result is followed.
"""

import html
import posixpath
import re
import shutil
import subprocess
import textwrap
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
SITE = ROOT / "docs" / "site"
STAGED = Path()  # beside the site
API = ROOT / "target" / "reports" / "apidocs"
MERMAID = ROOT / "target" / "mermaid" / "package" / "dist" / "mermaid.min.js"
INDEX = "docs/README.md"
COPIED = {".md", ".svg", ".png"}

LINK = re.compile(r"\]\(([^)\s]+)()\)|^ {0,3}\[[^\]]+\]: +(\S+)(?: +\"(.*)\")?$", re.MULTILINE)
FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
IN_LIST = re.compile(r"^ {2,3}(?=\S)", re.MULTILINE)
ITEM_AFTER_PARAGRAPH = re.compile(r"((?:\n\n {4}\S(?:.|\n(?!\n))*?|\n\w.*)\n)(?=(?:-|\d+\.) )")
DIAGRAM = re.compile(r"^```mermaid\n(.*)```$", re.DOTALL)
ENTRY = re.compile(r"^(?:-|\d+\.) ")
WRAPPED = re.compile(r"\n {2,}")
GROUP = re.compile(r"^[A-Z][^.]*:$")
TITLED = re.compile(r"\[([^\]]+)\]\(([^)\s#]+\.md)\)")
PRE = re.compile(r"<pre>(.*?)</pre>", re.DOTALL)
COLOURS = HtmlFormatter(style="default", linenos="table", anchorlinenos=True, lineanchors="line")
DARK = HtmlFormatter(style="github-dark")


def on_config(config):
    """Copies the pages and names them in the order of the index."""
    global STAGED
    STAGED = Path(config["site_dir"]).with_name("site-pages")
    shutil.rmtree(STAGED, ignore_errors=True)
    pom = (ROOT / "pom.xml").read_text("utf-8")
    config["repo_url"] = re.search(r"<scm.*?<url>(.*?)</url>", pom, re.DOTALL).group(1)
    config["extra"]["version"] = re.search(r"<version>(.*?)</version>", pom).group(1)
    config["extra"]["mermaid"] = MERMAID.is_file()
    tracked = _tracked()
    for page in (path for path in tracked if path.endswith(".md")):
        _write(page, _with_links_into_the_site(page, (ROOT / page).read_text("utf-8"), tracked))
    _write("site.css", (SITE / "site.css").read_text("utf-8") + _colours(COLOURS, "light") + _colours(DARK, "dark"))
    _write("site.js", (SITE / "site.js").read_text("utf-8"))
    if MERMAID.is_file():
        shutil.copyfile(MERMAID, STAGED / "mermaid.js")
    config["docs_dir"] = str(STAGED)
    config["nav"] = _navigation()
    return config


def on_page_content(content, page, config, files):
    """Lets wide tables scroll, and tells the style how wide a drawing is."""
    page.title = _plain(page.title)
    content = content.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    return PRE.sub(_drawing, content.replace("<th></th>", "<td></td>"))


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


def _colours(formatter, scheme):
    rules = formatter.get_style_defs(".codehilite") + formatter.get_style_defs(".source")
    return "@media (prefers-color-scheme: " + scheme + ") {" + rules + "}"


def _drawing(match):
    """A drawing gets the number of its columns."""
    text = html.unescape(re.sub("<[^>]*>", "", match.group(1)))
    if not re.search("[─│]", text):
        return match.group(0)
    columns = max(map(len, text.splitlines()))
    return f'<pre class="drawing" style="--columns: {columns}">{match.group(1)}</pre>'


def _with_links_into_the_site(page, text, tracked):
    def moved(match):
        link, method = (match.group(1), "") if match.group(1) else (match.group(3), match.group(4))
        address = urlsplit(link)
        if address.scheme or not address.path:
            return match.group(0)
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), address.path))
        fragment = address.fragment or (method and _line(path, method))
        relative = posixpath.relpath(_in_the_site(path, tracked), posixpath.dirname(page) or ".")
        return match.group(0).replace(link, relative + (f"#{fragment}" if fragment else ""), 1)

    parts = FENCED.split(text)
    return "".join(
        _fenced(part, parts[index - 1]) if index % 2
        else ITEM_AFTER_PARAGRAPH.sub(r"\1\n", IN_LIST.sub("    ", LINK.sub(moved, part)))
        for index, part in enumerate(parts)
    )


def _fenced(block, before):
    """A script of the page draws a diagram. In a list, MkDocs reads code that is indented, but not code in a fence."""
    diagram = DIAGRAM.match(block)
    if diagram:
        return f'<pre class="mermaid">{html.escape(diagram.group(1))}</pre>'
    if not block.startswith(" "):
        return block
    language, *code, _ = textwrap.dedent(block).splitlines()
    if before.strip():
        code.insert(0, ":::" + (language[3:] or "text"))  # two blocks in a row become one
    return "\n" + textwrap.indent("\n".join(code), " " * 8)


def _line(path, method):
    """The anchor of the line of a source in which a method is declared."""
    for number, line in enumerate((ROOT / path).read_text("utf-8").splitlines(), 1):
        if re.search(rf"\b{re.escape(method)}\(", line):
            return f"line-{number}"
    return ""


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
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="{up}/site.css"><script src="{up}/site.js" defer></script></head>'
        f'<body class="source"><nav aria-label="Site"><a href="{up}/index.html">Documentation</a></nav>'
        f'<main><h1>{html.escape(path)}</h1><div class="scroll">{content}</div></main></body></html>'
    )


def _navigation():
    nav = [{"What it is": "README.md"}, {"All pages": INDEX}]
    section = entries = nav
    for line in _lines(INDEX):
        if line.startswith("## "):
            section = entries = []
            nav.append({line[3:]: section})
        elif GROUP.match(line):
            entries = []
            section.append({line[:-1]: entries})
        elif ENTRY.match(line):
            entries += _entries(INDEX, line)
    if API.is_dir():
        shutil.copytree(API, STAGED / "api")
        nav.append({"Java API": "api/index.html"})
    return nav


def _lines(page):
    """The lines of an index, each entry in one line."""
    return WRAPPED.sub(" ", (ROOT / page).read_text("utf-8")).splitlines()


def _entries(page, line):
    """The pages that a line of an index names; an index among them brings its own."""
    found = []
    for title, link in TITLED.findall(line):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
        own = []
        if path.endswith("/README.md"):
            for below in _lines(path):
                if re.match(r"^\d+\. \[", below):
                    own += _entries(path, below)
        if path != "README.md":
            found.append({_plain(title): [{"All": path}] + own if own else path})
    return found


def _plain(title):
    """A title without Markdown, which begins with a capital."""
    title = title.replace("`", "")
    return title[:1].upper() + title[1:]


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
