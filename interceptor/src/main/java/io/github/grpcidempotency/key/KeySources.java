package io.github.grpcidempotency.key;

import com.google.common.base.CharMatcher;
import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import io.github.grpcidempotency.key.internal.FieldPath;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The sources that {@link KeySource} offers. */
final class KeySources {
  private KeySources() {}

  static KeySource formatted(KeySource source, KeyFormat format) {
    return new Mapped(
        source,
        key ->
            Objects.requireNonNull(format.canonicalize(key), "the key format returned null")
                .orElseThrow(() -> KeyException.ofLength(KeyProblem.FORMAT, key)),
        format.description());
  }

  static KeySource prefixed(KeySource source, String prefix) {
    return new Mapped(
        source,
        key -> {
          if (!IdempotencyKey.isShort(prefix + key)) {
            throw KeyException.ofLength(KeyProblem.TOO_LONG, key);
          }
          return prefix + key;
        },
        "1 to %d characters".formatted(IdempotencyKey.MAX_CHARACTERS - prefix.length()));
  }

  static Optional<FoundKey> findIn(KeySource source, KeyCall call) {
    return Objects.requireNonNull(
        source.find(call), () -> "the key source " + source.name() + " returned null");
  }

  record Metadata(String name) implements KeySource {
    /** A header that gRPC can carry as text. */
    private static final Pattern NAME =
        Pattern.compile("(?!.*-bin$)[0-9a-z_.-]+", Pattern.CASE_INSENSITIVE);

    /**
     * The characters that gRPC allows in a header. If other bytes arrive, they are all decoded as
     * the same character, so different keys would become equal.
     */
    private static final CharMatcher ASCII = CharMatcher.inRange(' ', '~');

    @Override
    public Optional<FoundKey> find(KeyCall call) {
      List<String> values = call.metadata(name);
      if (values.isEmpty()) {
        return Optional.empty();
      }
      if (values.size() > 1) {
        throw KeyException.explained(
            KeyProblem.REPEATED, "it has %d values".formatted(values.size()));
      }
      if (values.get(0).isEmpty()) {
        throw KeyException.explained(KeyProblem.EMPTY, "it is empty");
      }
      if (!ASCII.matchesAllOf(values.get(0))) {
        throw KeyException.explained(
            KeyProblem.CHARACTERS, "it has characters that are not printable ASCII");
      }
      return Optional.of(FoundKey.of(values.get(0)));
    }

    @Override
    public Optional<String> keyOf(String value) {
      return Optional.of(value);
    }

    @Override
    public boolean readsRequest() {
      return false;
    }

    @Override
    public List<String> problems(Descriptor request) {
      return NAME.matcher(name).matches()
          ? List.of()
          : List.of("\"%s\" is not the name of an ASCII header".formatted(name));
    }
  }

  record RequestField(String path) implements KeySource {
    @Override
    public String name() {
      return path;
    }

    @Override
    public Optional<FoundKey> find(KeyCall call) {
      return FieldPath.of(call.request().getDescriptorForType(), path)
          .flatMap(field -> field.read(call.request()))
          .map(String.class::cast)
          .filter(value -> !value.isEmpty())
          .map(FoundKey::of);
    }

    @Override
    public Optional<String> keyOf(String value) {
      return Optional.of(value);
    }

    @Override
    public List<String> problems(Descriptor request) {
      return FieldPath.of(request, path)
              .filter(field -> field.isSingular(JavaType.STRING))
              .isPresent()
          ? List.of()
          : List.of(
              "\"%s\" is not a singular string field of %s".formatted(path, request.getFullName()));
    }
  }

  record Content(List<String> paths) implements KeySource {
    Content {
      if (paths.isEmpty()) {
        throw new IllegalArgumentException("a content key needs at least one field");
      }
    }

    @Override
    public String name() {
      return String.join(", ", paths);
    }

    @Override
    public Optional<FoundKey> find(KeyCall call) {
      Hasher hasher = Hashing.sha256().newHasher();
      boolean isSet = false;
      call.caller()
          .map(caller -> caller.userId().toString())
          .ifPresent(user -> putField(hasher, user.getBytes(StandardCharsets.UTF_8)));
      putField(hasher, call.procedure().getBytes(StandardCharsets.UTF_8));
      for (String path : paths) {
        FieldPath field =
            FieldPath.of(call.request().getDescriptorForType(), path)
                .orElseThrow(() -> KeyException.malformed("the request has no field " + path));
        byte[] bytes = DeterministicBytes.of(field.only(call.request()));
        isSet |= bytes.length > 0;
        putField(hasher, bytes);
      }
      return isSet ? Optional.of(FoundKey.of("sha256:" + hasher.hash())) : Optional.empty();
    }

    private static void putField(Hasher hasher, byte[] bytes) {
      hasher.putInt(bytes.length).putBytes(bytes);
    }

    @Override
    public List<String> problems(Descriptor request) {
      return paths.stream()
          .filter(path -> FieldPath.of(request, path).isEmpty())
          .map(path -> "\"%s\" is not a field of %s".formatted(path, request.getFullName()))
          .toList();
    }
  }

  record FirstOf(List<KeySource> sources) implements KeySource {
    FirstOf {
      if (sources.isEmpty()) {
        throw new IllegalArgumentException("firstOf needs at least one source");
      }
    }

    @Override
    public Optional<FoundKey> find(KeyCall call) {
      return sources.stream()
          .map(source -> find(source, call))
          .flatMap(Optional::stream)
          .findFirst();
    }

    /** Calls one of several sources. Errors name the source that has the key. */
    private static Optional<FoundKey> find(KeySource source, KeyCall call) {
      try {
        return findIn(source, call).map(found -> found.named(source.name()));
      } catch (KeyException malformed) {
        throw malformed.named(source.name());
      }
    }

    @Override
    public List<KeySource> alternatives() {
      return sources.stream().flatMap(source -> source.alternatives().stream()).toList();
    }

    @Override
    public String name() {
      return sources.stream().map(KeySource::name).distinct().collect(Collectors.joining(" or "));
    }

    @Override
    public boolean readsRequest() {
      return sources.stream().anyMatch(KeySource::readsRequest);
    }

    @Override
    public List<String> problems(Descriptor request) {
      return sources.stream().flatMap(source -> source.problems(request).stream()).toList();
    }
  }

  /**
   * A source whose keys are converted.
   *
   * @param expected a description of the keys that can be converted
   */
  record Mapped(KeySource source, UnaryOperator<String> spelling, String expected)
      implements KeySource {
    @Override
    public String name() {
      return source.name();
    }

    @Override
    public List<KeySource> alternatives() {
      List<KeySource> mapped = source.alternatives();
      return mapped.size() == 1 && mapped.get(0).equals(source)
          ? List.of(this)
          : mapped.stream().<KeySource>map(each -> new Mapped(each, spelling, expected)).toList();
    }

    @Override
    public Optional<FoundKey> find(KeyCall call) {
      return explaining(() -> findIn(source, call).map(found -> found.spelled(spelling)));
    }

    @Override
    public Optional<String> keyOf(String value) {
      return explaining(
          () -> source.keyOf(value).map(key -> FoundKey.of(key).spelled(spelling).value()));
    }

    private <T> T explaining(Supplier<T> step) {
      try {
        return step.get();
      } catch (KeyException malformed) {
        throw malformed.expecting(expected);
      }
    }

    @Override
    public boolean readsRequest() {
      return source.readsRequest();
    }

    @Override
    public List<String> problems(Descriptor request) {
      return source.problems(request);
    }
  }
}
