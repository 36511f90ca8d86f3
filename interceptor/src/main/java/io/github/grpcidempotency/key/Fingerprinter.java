package io.github.grpcidempotency.key;

import com.google.common.hash.Hashing;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Message;
import com.google.protobuf.UnsafeByteOperations;
import io.github.grpcidempotency.key.internal.FieldPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Computes the {@link Fingerprint} of a request: SHA-256 over its deterministic protobuf bytes,
 * including unknown fields, without the fields that may change between retries. Servers with an
 * older and a newer schema compute the same hash, because known and unknown fields are hashed in
 * the same order.
 *
 * <p>The rules have versions. Version 1 hashes the whole request. Every excluded field names the
 * first version that excludes it. New records use the newest version. A record of an older version
 * is compared under its own version, so servers with different rules can run side by side during a
 * change. Immutable.
 */
public final class Fingerprinter {
  /** The version of the rules that hash the whole request. */
  public static final int FIRST_VERSION = 1;

  private static final Fingerprinter WHOLE_REQUEST =
      new Fingerprinter(MarkedFields.none(), List.of());

  private final MarkedFields marked;
  private final List<Ignored> ignored;
  private final int version;

  private record Ignored(int since, String path) {}

  private Fingerprinter(MarkedFields marked, List<Ignored> ignored) {
    this.marked = marked;
    this.ignored = List.copyOf(ignored);
    this.version =
        Stream.concat(
                Stream.of(FIRST_VERSION, marked.version()), ignored.stream().map(Ignored::since))
            .mapToInt(Integer::intValue)
            .max()
            .orElseThrow();
  }

  /** Returns the rules that hash the whole request. */
  public static Fingerprinter wholeRequest() {
    return WHOLE_REQUEST;
  }

  /**
   * Returns the rules from the schema of a request: the option {@code
   * (idempotency.v1.fingerprint_ignored_since)} of its fields, at any depth. This is the default
   * for procedures.
   */
  public static Fingerprinter ofSchema(Descriptor request) {
    MarkedFields marked = MarkedFields.of(request);
    return marked.isEmpty() ? WHOLE_REQUEST : new Fingerprinter(marked, List.of());
  }

  /**
   * Returns these rules with one more excluded field. Do not change a rule that has been in
   * production; add another rule with a higher version.
   *
   * @param version the first version that excludes the field, from 1 (always excluded) to 32,767;
   *     versions need not be consecutive
   * @param path the names of nested fields, joined by dots; within a repeated message, the field of
   *     every element
   * @throws IllegalArgumentException if the version is out of range
   */
  public Fingerprinter ignoringSince(int version, String path) {
    if (version < FIRST_VERSION || version > Short.MAX_VALUE) {
      throw new IllegalArgumentException(
          "a fingerprint's version must be 1 to 32767, not " + version);
    }
    List<Ignored> more = new ArrayList<>(ignored);
    more.add(new Ignored(version, path));
    return new Fingerprinter(marked, more);
  }

  /** Returns the request's fingerprint under the newest rules. */
  public Fingerprint fingerprint(Message request) {
    return under(version, request);
  }

  /** Returns whether a recorded fingerprint was made under these rules, or under older ones. */
  public boolean knows(Fingerprint recorded) {
    return recorded.version() <= version;
  }

  /**
   * Returns whether a request is equal to a recorded one, under the rules of the record.
   *
   * @param recorded a fingerprint that these rules {@linkplain #knows know}
   */
  public boolean matches(Message request, Fingerprint recorded) {
    return under(recorded.version(), request).matches(recorded);
  }

  /** Returns the problems of these rules for a type of request; empty if there are none. */
  public List<String> problems(Descriptor request) {
    List<String> problems = new ArrayList<>(marked.problems());
    ignored.stream()
        .map(Ignored::path)
        .filter(path -> FieldPath.of(request, path).isEmpty())
        .map(
            path ->
                "the fingerprint ignores \"%s\", which is not a field of %s"
                    .formatted(path, request.getFullName()))
        .forEach(problems::add);
    return problems;
  }

  private Fingerprint under(int rules, Message request) {
    Message hashed = marked.without(request, rules);
    for (Ignored field : ignored) {
      if (field.since() <= rules) {
        Optional<FieldPath> path = FieldPath.of(request.getDescriptorForType(), field.path());
        hashed = path.isPresent() ? path.get().without(hashed) : hashed;
      }
    }
    return new Fingerprint(
        rules,
        UnsafeByteOperations.unsafeWrap(
            Hashing.sha256().hashBytes(DeterministicBytes.of(hashed)).asBytes()));
  }
}
