package io.github.grpcidempotency.pages;

import static io.github.grpcidempotency.pages.Text.groups;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page of settings names every method of every public builder, and no other setting. */
class SettingsPageTest {
  private static final Pattern ROW = Pattern.compile("(?m)^\\| (?:`(\\w+)`)? ?\\| ([^|]*) \\|");
  private static final Pattern NAME = Pattern.compile("`(\\w+)`");
  private static final Pattern TYPE = Pattern.compile("^\\S.* (?:class|interface) ([\\w.$]+).*");
  private static final Pattern METHOD =
      Pattern.compile("^  public (?:<\\S+> )?([\\w.$]+)(?:<\\S+>)? (\\w+)\\(.*");
  private static final String TESTING = "testing/api.txt";

  /** Types whose settings are methods of their own. */
  private static final Set<String> BUILD_THEMSELVES = Set.of("IdempotencyClientInterceptor");

  @Test
  void thePageNamesEveryMethodOfEveryBuilder() throws IOException {
    Map<String, Set<String>> found = new TreeMap<>();
    for (Path list : RepositoryRoot.files(RepositoryRoot.PATH, "api.txt")) {
      if (!list.endsWith(TESTING)) {
        addSettings(Text.read(list), found);
      }
    }

    assertThat(found).hasSizeGreaterThan(10);
    assertThat(documented()).isEqualTo(found);
  }

  private static void addSettings(String api, Map<String, Set<String>> found) {
    String type = "";
    for (String line : api.lines().toList()) {
      Matcher declared = TYPE.matcher(line);
      Matcher method = METHOD.matcher(line);
      if (declared.matches()) {
        type = declared.group(1);
      } else if (method.matches() && method.group(1).equals(type) && isBuilder(type)) {
        found.computeIfAbsent(nameOf(type), any -> new TreeSet<>()).add(method.group(2));
      }
    }
  }

  private static boolean isBuilder(String type) {
    return type.endsWith("Builder") || BUILD_THEMSELVES.contains(nameOf(type));
  }

  private static String nameOf(String type) {
    return type.replaceFirst("\\$?Builder$", "").replaceFirst(".*\\.", "");
  }

  private static Map<String, Set<String>> documented() {
    Map<String, Set<String>> settings = new TreeMap<>();
    String type = "";
    for (MatchResult row :
        ROW.matcher(Page.read("reference/settings.md").text().split("\n## ", 2)[0])
            .results()
            .toList()) {
      type = row.group(1) == null ? type : row.group(1);
      for (String name : groups(NAME, row.group(2))) {
        settings.computeIfAbsent(type, any -> new TreeSet<>()).add(name);
      }
    }
    return settings;
  }
}
