package io.github.grpcidempotency.pages;

import static io.github.grpcidempotency.pages.Text.groups;
import static io.github.grpcidempotency.pages.Text.pom;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
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
}
