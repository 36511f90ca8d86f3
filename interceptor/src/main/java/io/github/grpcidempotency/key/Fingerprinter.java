package io.github.grpcidempotency.key;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Message;
import com.google.protobuf.MessageLite;
import com.google.protobuf.UnsafeByteOperations;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Takes a request's {@link Fingerprint}: SHA-256 over its deterministic protobuf bytes, unknown
 * fields included, less the fields that may change between retries.
 *
 * <p>Its rules have versions: version 1 hashes the whole request, and every field left out says
 * since which version it is. The newest is the one in use, and records made under an older one are
 * compared under that, so that servers with different rules can run side by side during a change.
 * Immutable.
 */
public final class Fingerprinter {
  /** The version of the rules that leave nothing out. */
  public static final int FIRST_VERSION = 1;

  private static final Fingerprinter WHOLE_REQUEST = new Fingerprinter(List.of());

  private final List<Ignored> ignored;
  private final int version;

  private record Ignored(int since, String path) {}

  private Fingerprinter(List<Ignored> ignored) {
    this.ignored = List.copyOf(ignored);
    this.version = ignored.stream().mapToInt(Ignored::since).max().orElse(FIRST_VERSION);
  }

  /** Returns the default: nothing is left out. */
  public static Fingerprinter wholeRequest() {
    return WHOLE_REQUEST;
  }

  /**
   * Returns these rules with a field left out. A rule once in production is not changed; another
   * one with a higher version is added.
   *
   * @param version since which version, from 1 (always) to 32,767; versions need not be consecutive
   * @param path the field, its names joined by dots
   * @throws IllegalArgumentException if the version is out of range
   */
  public Fingerprinter ignoringSince(int version, String path) {
    if (version < FIRST_VERSION || version > Short.MAX_VALUE) {
      throw new IllegalArgumentException("a fingerprint's version is 1 to 32767, not " + version);
    }
    List<Ignored> more = new ArrayList<>(ignored);
    more.add(new Ignored(version, path));
    return new Fingerprinter(more);
  }

  /** Returns the request's fingerprint under the newest rules. */
  public Fingerprint fingerprint(Message request) {
    return under(version, request);
  }

  /** Returns how a request compares with a recorded one, under the record's own rules. */
  public Fingerprint.Match compare(Message request, Fingerprint recorded) {
    if (recorded.version() > version) {
      return Fingerprint.Match.INCOMPARABLE;
    }
    return under(recorded.version(), request).matches(recorded)
        ? Fingerprint.Match.SAME
        : Fingerprint.Match.OTHER;
  }

  /** Returns what is wrong with these rules for requests of a type; empty if nothing is. */
  public List<String> problems(Descriptor request) {
    return ignored.stream()
        .map(Ignored::path)
        .filter(path -> FieldPath.of(request, path).isEmpty())
        .map(
            path ->
                "the fingerprint ignores \"%s\", which is not a field of %s"
                    .formatted(path, request.getFullName()))
        .toList();
  }

  private Fingerprint under(int rules, Message request) {
    Message hashed = request;
    for (Ignored field : ignored) {
      if (field.since() <= rules) {
        Optional<FieldPath> path = FieldPath.of(request.getDescriptorForType(), field.path());
        hashed = path.isPresent() ? path.get().without(hashed) : hashed;
      }
    }
    return new Fingerprint(
        rules, UnsafeByteOperations.unsafeWrap(sha256().digest(deterministicBytes(hashed))));
  }

  private static byte[] deterministicBytes(MessageLite message) {
    byte[] bytes = new byte[message.getSerializedSize()];
    CodedOutputStream output = CodedOutputStream.newInstance(bytes);
    output.useDeterministicSerialization();
    try {
      message.writeTo(output);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    output.checkNoSpaceLeft();
    return bytes;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError("every Java platform has SHA-256", impossible);
    }
  }
}
