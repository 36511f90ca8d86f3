package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.grpcidempotency.call.internal.KeyFinder;
import io.github.grpcidempotency.internal.decision.KeyDecision;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Any text is a key that a store can keep, or none. An input is a tenant, a project and a key, a
 * line each; the key may have several.
 */
class KeyFuzzTest {
  private static final UUID USER = new UUID(1, 2);

  private static final List<KeyFormat> FORMATS =
      List.of(KeyFormat.uuid(), KeyFormat.uuid4(), KeyFormat.opaque());

  private static final List<KeySource> SOURCES =
      List.of(
          KeySource.metadata("x-key"),
          KeySource.metadata("x-key").as(KeyFormat.opaque()).prefixed("a:"),
          KeySource.metadata("x-key").as(KeyFormat.matching(Pattern.compile("[^a]*"))),
          KeySource.requestField("name"),
          KeySource.requestField("thing.name").prefixed("thing:"),
          KeySource.requestId(),
          KeySource.assignedId("thing.id"),
          KeySource.content("name", "thing.id", "labels"),
          KeySource.firstOf(
              KeySource.requestId(), KeySource.metadata("x-key").as(KeyFormat.uuid())));

  /** Text that can contain any UTF-16 character, by its code. */
  private static final Pattern ESCAPE = Pattern.compile("\\\\u([0-9a-f]{4})");

  @FuzzTest
  void anyTextIsAKeyThatAStoreCanKeepOrIsRefused(byte[] input) {
    String text =
        ESCAPE
            .matcher(new String(input, StandardCharsets.UTF_8))
            .replaceAll(code -> "" + (char) Integer.parseInt(code.group(1), 16));
    String[] lines = text.split("\n", 3);
    String key = lines[lines.length - 1];
    List<Caller> callers =
        callers(lines.length < 3 ? "" : lines[0], lines.length < 2 ? "" : lines[1]);

    FORMATS.forEach(format -> assertCanonical(format, key));
    for (KeySource source : SOURCES) {
      for (Caller caller : callers) {
        found(source, new Call(key, Optional.of(caller))).ifPresent(KeyFuzzTest::assertKept);
      }
    }
    assertDistinct(callers, lines);
  }

  private static void assertCanonical(KeyFormat format, String raw) {
    Optional<String> canonical = format.canonicalize(raw);
    if (canonical.isPresent()) {
      assertThat(IdempotencyKey.problemOf(canonical.get())).isEmpty();
      assertThat(format.canonicalize(canonical.get())).isEqualTo(canonical);
    }
  }

  private static Optional<IdempotencyKey> found(KeySource source, KeyCall call) {
    try {
      KeyDecision decision =
          KeyFinder.decide(KeyPolicy.REQUIRED, source.find(call), call.caller(), source.name());
      return decision instanceof KeyDecision.Keyed keyed
          ? Optional.of(keyed.key())
          : Optional.empty();
    } catch (KeyException refused) {
      return Optional.empty();
    }
  }

  /** PostgreSQL keeps UTF-8 without NUL. */
  private static void assertKept(IdempotencyKey key) {
    assertThat(key.value()).hasSizeBetween(1, 512).doesNotContain("\0");
    for (String part : key.qualified().split("\0", -1)) {
      assertThat(new String(part.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8))
          .isEqualTo(part);
    }
    assertThat(key.qualified().split("\0", -1))
        .containsExactly(
            key.caller().tenant().orElse(""), key.caller().project().orElse(""), key.value());
  }

  private static void assertDistinct(List<Caller> callers, String[] lines) {
    Map<String, IdempotencyKey> byText = new HashMap<>();
    for (Caller caller : callers) {
      for (String value : respelt(callers, lines)) {
        if (IdempotencyKey.problemOf(value).isEmpty()) {
          IdempotencyKey key = new IdempotencyKey(caller, value);
          IdempotencyKey other = byText.put(key.qualified(), key);
          assertThat(other == null || other.equals(key)).as(key.qualified()).isTrue();
        }
      }
    }
  }

  /** Returns the keys that look as if somebody wanted another one's. */
  private static List<String> respelt(List<Caller> callers, String[] lines) {
    List<String> keys = new ArrayList<>(List.of(lines));
    for (Caller caller : callers) {
      for (String line : lines) {
        keys.add(caller.tenant().orElse("") + "/" + caller.project().orElse("") + ":" + line);
      }
    }
    return keys;
  }

  private static List<Caller> callers(String tenant, String project) {
    Caller user = Caller.of(USER);
    return Stream.<java.util.function.Supplier<Caller>>of(
            () -> user,
            () -> user.inTenant(tenant),
            () -> user.inProject(project),
            () -> user.inTenant(tenant).inProject(project))
        .map(KeyFuzzTest::ifWellFormed)
        .flatMap(Optional::stream)
        .toList();
  }

  private static Optional<Caller> ifWellFormed(java.util.function.Supplier<Caller> caller) {
    try {
      return Optional.of(caller.get());
    } catch (IllegalArgumentException malformed) {
      return Optional.empty();
    }
  }

  /** Has the same text wherever a key may be. */
  private record Call(String text, Optional<Caller> caller) implements KeyCall {
    @Override
    public String procedure() {
      return "a.B/C";
    }

    @Override
    public List<String> metadata(String name) {
      return List.of(text);
    }

    @Override
    public CreateThingRequest request() {
      return CreateThingRequest.newBuilder()
          .setName(text)
          .putLabels(text, text)
          .setRequestId(text)
          .setThing(Thing.newBuilder().setId(text).setName(text))
          .build();
    }
  }
}
