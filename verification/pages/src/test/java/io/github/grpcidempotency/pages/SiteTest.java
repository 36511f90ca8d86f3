package io.github.grpcidempotency.pages;

import static io.github.grpcidempotency.pages.Text.groups;
import static io.github.grpcidempotency.test.Program.CHROMIUM;
import static io.github.grpcidempotency.test.Program.MKDOCS;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.grpcidempotency.test.NeedsProgram;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The site that {@code docs/site/build} makes of the pages. Its build follows each link. */
@NeedsProgram(MKDOCS)
class SiteTest {
  private static final Path AXE =
      RepositoryRoot.INTEROP.resolve("node_modules/axe-core/axe.min.js");
  private static final Pattern NAVIGATION = Pattern.compile("(?s)<nav .*?</nav>");
  private static final Pattern LINK = Pattern.compile("<a href=\"([^\"#]+)\"");
  private static final Pattern TITLE = Pattern.compile("<title>(.*?)</title>|<a [^>]*>(.*?)</a>");
  private static final Pattern SLIP = Pattern.compile("`|^(?!gRPC)\\p{Ll}");
  private static final Pattern RESULT = Pattern.compile("(?s)<pre id=\"result\">(.*?)</pre>");

  @TempDir private static Path folder;
  private static Path site;

  @BeforeAll
  static void build() throws IOException, InterruptedException {
    site = folder.resolve("site");
    run(
        MKDOCS.process(
            "build",
            "--quiet",
            "--strict",
            "--config-file",
            RepositoryRoot.resolve("docs/site/mkdocs.yml").toString(),
            "--site-dir",
            site.toString()));
  }

  @Test
  void theNavigationOfTheSiteHasEveryPageOfTheDocumentation() throws IOException {
    Path docs = RepositoryRoot.resolve("docs");
    List<String> pages =
        RepositoryRoot.files(docs, ".md").stream()
            .map(page -> "docs/" + docs.relativize(page))
            .map(page -> page.replace("README.md", "index.md").replaceFirst("\\.md$", ".html"))
            .toList();

    assertThat(groups(LINK, navigation("index.html"))).containsAll(pages);
  }

  @Test
  void noTitleOfTheSiteContainsABacktickOrBeginsWithASmallLetter() throws IOException {
    for (String page : pages()) {
      String text = Text.read(site.resolve(page));
      String head = text.substring(0, text.indexOf("<main"));
      assertThat(TITLE.matcher(head).results())
          .isNotEmpty()
          .map(title -> title.group(1) == null ? title.group(2) : title.group(1))
          .noneMatch(title -> SLIP.matcher(title).find());
    }
  }

  @Test
  @Tag("torture") // takes a minute
  @NeedsProgram({MKDOCS, CHROMIUM})
  void noPageOfTheSiteIsWiderThanAPhone() throws IOException, InterruptedException {
    assertThat(onAPhone("return page.scrollWidth > page.clientWidth ? [page.scrollWidth] : [];"))
        .isEmpty();
  }

  /** The rules for people who use a screen reader or a keyboard. */
  @Test
  @Tag("torture") // takes a minute
  @NeedsProgram({MKDOCS, CHROMIUM})
  void noPageOfTheSiteBreaksARuleOfAxe() throws IOException, InterruptedException {
    assumeTrue(Files.exists(AXE), "run npm ci --prefix " + RepositoryRoot.INTEROP);
    Files.copy(AXE, site.resolve("axe.js"));

    assertThat(
            onAPhone(
                """
                const script = page.ownerDocument.createElement("script");
                script.src = new URL("axe.js", location);
                await new Promise(loaded => { script.onload = loaded; page.append(script); });
                const { violations } = await page.ownerDocument.defaultView.axe.run();
                return violations.map(rule => rule.id + " " + rule.nodes[0].html);
                """))
        .isEmpty();
  }

  /** Opens each page in a frame of the width of a phone, and returns what a script returns. */
  private static String onAPhone(String script) throws IOException, InterruptedException {
    String harness =
        """
        <pre id="result">no result</pre><iframe width="390" height="844" style="border: 0"></iframe>
        <script type="module">
          const frame = document.querySelector("iframe");
          const found = [];
          for (const name of [%s]) {
            await new Promise(loaded => { frame.onload = loaded; frame.src = name; });
            // Chromium's virtual time stands still if pages follow each other without a pause.
            await new Promise(laidOut => setTimeout(laidOut, 100));
            const page = frame.contentDocument.documentElement;
            const problems = await (async () => { %s })();
            found.push(...problems.map(problem => name + ": " + problem));
          }
          document.getElementById("result").textContent = found.join("\\n");
        </script>
        """
            .formatted(
                pages().stream().map(page -> '"' + page + '"').collect(joining(",")), script);
    Path file = Files.writeString(site.resolve("phone.html"), harness);
    String shown =
        run(
            CHROMIUM.process(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--allow-file-access-from-files",
                "--virtual-time-budget=60000",
                "--user-data-dir=" + folder.resolve("profile"),
                "--dump-dom",
                file.toUri().toString()));
    return String.join("\n", groups(RESULT, shown));
  }

  /** Returns the pages of the repository, without sources and Javadoc. */
  private static List<String> pages() throws IOException {
    return RepositoryRoot.files(site, ".html").stream()
        .map(page -> site.relativize(page).toString())
        .filter(page -> !page.startsWith("source/") && !page.startsWith("api/"))
        .filter(page -> !page.equals("phone.html"))
        .sorted()
        .toList();
  }

  private static String navigation(String page) {
    return NAVIGATION.matcher(Text.read(site.resolve(page))).results().findFirst().get().group();
  }

  private static String run(ProcessBuilder program) throws IOException, InterruptedException {
    Path output = Files.createTempFile(folder, "output", ".txt");
    Path errors = Files.createTempFile(folder, "errors", ".txt");
    Process process =
        program.redirectOutput(output.toFile()).redirectError(errors.toFile()).start();
    try {
      assertThat(process.waitFor(5, TimeUnit.MINUTES)).as("it ends").isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue()).as(() -> Text.read(output) + Text.read(errors)).isZero();
    return Text.read(output);
  }
}
