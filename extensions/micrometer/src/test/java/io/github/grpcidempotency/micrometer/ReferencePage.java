package io.github.grpcidempotency.micrometer;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The tables of {@code docs/reference/metrics.md}. */
final class ReferencePage {
  private static final Path FILE = RepositoryRoot.resolve("docs/reference/metrics.md");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final String COMMON = "All meters of this section also have the tag";

  /** One meter; the same for what a page says and what a registry has. */
  record Row(String name, String type, String unit, Set<String> tags, String meaning) {}

  /** Its name and labels in Prometheus. */
  record Family(String name, Set<String> labels) {}

  private final List<Row> rows = new ArrayList<>();
  private final List<Family> families = new ArrayList<>();
  private final String text;

  private ReferencePage(String text) {
    this.text = text;
    List<String> common = List.of();
    for (String line : text.lines().toList()) {
      if (line.startsWith("## ")) {
        common = List.of();
      } else if (line.startsWith(COMMON)) {
        common = codes(line);
      } else if (line.startsWith("| `idempotency.")) {
        add(line.split(" *\\| *", -1), common);
      }
    }
  }

  static ReferencePage read() throws IOException {
    return new ReferencePage(Files.readString(FILE));
  }

  List<Row> rows() {
    return rows;
  }

  List<Family> families() {
    return families;
  }

  /** Returns whether a tag has its line in the table of tags. */
  boolean explains(String tag) {
    return text.contains("\n| `" + tag + "` |");
  }

  private void add(String[] cells, List<String> common) {
    Set<String> tags = new TreeSet<>(common);
    tags.addAll(codes(cells[5]));
    rows.add(new Row(codes(cells[1]).get(0), cells[3], cells[4], tags, cells[6]));
    families.add(new Family(codes(cells[2]).get(0), tags));
  }

  private static List<String> codes(String text) {
    return CODE.matcher(text).results().map(ReferencePage::inner).toList();
  }

  private static String inner(MatchResult code) {
    return code.group(1);
  }
}
