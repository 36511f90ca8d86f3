package io.github.grpcidempotency.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Every published module is in the bill of materials, in the order of the build. */
class BomTest {
  private static final Path ROOT = RepositoryRoot.PATH;
  private static final Pattern MODULE = Pattern.compile("<module>(.*?)</module>");
  private static final Pattern MANAGED =
      Pattern.compile(
          "<dependency>\\s*<groupId>.*?<artifactId>grpc-idempotency-(.*?)</artifactId>",
          Pattern.DOTALL);

  @Test
  void everyPublishedModuleIsInIt() throws IOException {
    List<String> published = published(ROOT);

    assertThat(published).contains("proto", "interceptor");
    assertThat(groups(MANAGED, pom(ROOT.resolve("bom"))))
        .containsExactlyInAnyOrderElementsOf(published);
  }

  /** Returns the modules below a folder that make a jar for others. */
  private static List<String> published(Path parent) throws IOException {
    List<String> published = new ArrayList<>();
    for (String name : groups(MODULE, pom(parent))) {
      String pom = pom(parent.resolve(name));
      if (name.equals("bom") || pom.contains("<unpublished>true</unpublished>")) {
        continue;
      }
      if (pom.contains("<modules>")) {
        published.addAll(published(parent.resolve(name)));
      } else {
        published.add(Path.of(name).getFileName().toString());
      }
    }
    return published;
  }

  private static String pom(Path folder) throws IOException {
    return Files.readString(folder.resolve("pom.xml"));
  }

  private static List<String> groups(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(found -> found.group(1)).toList();
  }
}
