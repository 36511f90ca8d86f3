package io.github.grpcidempotency.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Every published module is in the bill of materials. */
class BomTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern MODULE = Pattern.compile("<module>(.*?)</module>");
  private static final Pattern MANAGED =
      Pattern.compile(
          "<dependency>\\s*<groupId>.*?<artifactId>grpc-idempotency-(.*?)</artifactId>",
          Pattern.DOTALL);

  @Test
  void everyPublishedModuleIsInIt() throws IOException {
    List<String> published = new ArrayList<>();
    for (String module : groups(MODULE, pom(""))) {
      if (!module.equals("bom") && !pom(module).contains("<unpublished>true</unpublished>")) {
        published.add(module);
      }
    }

    assertThat(published).contains("proto", "interceptor");
    assertThat(groups(MANAGED, pom("bom"))).isEqualTo(published);
  }

  private static String pom(String module) throws IOException {
    return Files.readString(ROOT.resolve(module).resolve("pom.xml"));
  }

  private static List<String> groups(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(found -> found.group(1)).toList();
  }
}
