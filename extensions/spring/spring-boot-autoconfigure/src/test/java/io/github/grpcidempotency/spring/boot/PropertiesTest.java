package io.github.grpcidempotency.spring.boot;

import static io.github.grpcidempotency.spring.boot.Runners.complete;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The settings, their errors and their descriptions. */
class PropertiesTest {
  private static final Path PAGE = RepositoryRoot.resolve("docs/hosts/spring-boot.md");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          schema=                   | schema: the name of a schema must be a plain lower case identifier
          schema=Public             | schema: the name of a schema must be a plain lower case identifier
          lease=-1s                 | lease: the lease must be at least 100 ms
          lease=soon                | lease
          key-hash-secret=short     | key-hash-secret:
          call-limit=0s             | call-limit:
          sweeper.interval=0s       | sweeper.interval: the sweep interval must be positive
          leese=30s                 | leese
          sweeper.size=1            | sweeper.size
          """)
  void aSenselessOrUnknownSettingStopsTheStart(String setting, String message) {
    complete()
        .withPropertyValues("grpc.idempotency." + setting)
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("grpc.idempotency." + message));
  }

  @Test
  void secretsAreNotPrinted() {
    complete()
        .withPropertyValues(
            "grpc.idempotency.key-hash-secret=a secret of many bytes",
            "grpc.idempotency.migration.password=another one")
        .run(
            context ->
                assertThat(
                        context.getBean(IdempotencyProperties.class)
                            + " "
                            + context.getBean(IdempotencyProperties.class).migration())
                    .doesNotContain("secret of", "another one"));
  }

  @Test
  void everyPropertyIsDescribedInTheMetadataAndOnThePage() throws IOException {
    List<String> rows = new ArrayList<>();
    for (JsonElement element : metadata()) {
      JsonObject property = element.getAsJsonObject();
      String name = property.get("name").getAsString();
      assertThat(property.get("description").getAsString()).as(name).isNotBlank();
      rows.add(
          "| `%s` | %s | %s |"
              .formatted(
                  name.substring("grpc.idempotency.".length()),
                  property.has("defaultValue")
                      ? "`" + property.get("defaultValue").getAsString() + "`"
                      : "",
                  property.get("description").getAsString()));
    }

    assertThat(rows).hasSizeGreaterThan(10);
    assertThat(
            Files.readAllLines(PAGE).stream().filter(line -> line.startsWith("| `") && rows(line)))
        .containsExactlyElementsOf(rows);
  }

  /** The table of properties has three columns, the first of which is a name. */
  private static boolean rows(String line) {
    return line.matches("\\| `[a-z.-]+` \\| (`[^`]*`)? ?\\| [A-Z].*\\. \\|");
  }

  private static JsonArray metadata() throws IOException {
    try (InputStream metadata =
        IdempotencyProperties.class.getResourceAsStream(
            "/META-INF/spring-configuration-metadata.json")) {
      assertThat(metadata).isNotNull();
      return JsonParser.parseReader(new InputStreamReader(metadata, StandardCharsets.UTF_8))
          .getAsJsonObject()
          .getAsJsonArray("properties");
    }
  }
}
