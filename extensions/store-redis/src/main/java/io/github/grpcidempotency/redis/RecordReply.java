package io.github.grpcidempotency.redis;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A script's answer about a record. */
sealed interface RecordReply {
  /** The kinds of answers in a record. */
  enum Kind {
    RESPONSE,
    REFERENCE,
    FAILURE;

    byte[] bytes() {
      return RecordReply.bytes(name());
    }
  }

  /** There is no record, or it has expired. */
  record Absent() implements RecordReply {}

  record Won(UUID id, int attempt, Instant expires) implements RecordReply {}

  /** There is a record, or another owner's reservation. */
  record Seen(ClaimResult result) implements RecordReply {}

  static RecordReply of(List<@Nullable Object> answer) {
    if (answer.isEmpty()) {
      return new Absent();
    }
    Iterator<@Nullable Object> values = answer.iterator();
    boolean won = text(values.next()).equals("won");
    return won ? won(values) : new Seen(seen(values));
  }

  private static Won won(Iterator<@Nullable Object> values) {
    return new Won(
        UUID.fromString(text(values.next())),
        (int) number(values.next()),
        Instant.ofEpochMilli(number(values.next())));
  }

  private static ClaimResult seen(Iterator<@Nullable Object> values) {
    long now = number(values.next());
    UUID id = UUID.fromString(text(values.next()));
    String procedure = text(values.next());
    Fingerprint fingerprint =
        new Fingerprint(Integer.parseInt(text(values.next())), wrap(values.next()));
    long lease = number(values.next());
    Instant expires = Instant.ofEpochMilli(number(values.next()));
    boolean unknown = values.next() != null;
    Object kind = values.next();
    Object body = values.next();
    Object resource = values.next();
    Object trace = values.next();
    if (kind == null) {
      return new ClaimResult.InFlight(
          Optional.of(fingerprint),
          Optional.of(procedure),
          Optional.of(id),
          Optional.of(Duration.ofMillis(Math.max(0, lease - now))),
          unknown);
    }
    RecordedOutcome outcome =
        outcome(
            Kind.valueOf(text(kind)),
            wrap(body),
            Optional.ofNullable(resource).map(value -> ResourceId.of(text(value))));
    return ClaimResult.Recorded.of(id, procedure, fingerprint, outcome, expires)
        .withTrace(Optional.ofNullable(trace).map(RecordReply::wrap));
  }

  private static RecordedOutcome outcome(
      Kind kind, ByteString body, Optional<ResourceId> resource) {
    return switch (kind) {
      case RESPONSE -> new RecordedOutcome.Response(body, resource);
      case REFERENCE -> new RecordedOutcome.Reference(resource);
      case FAILURE -> new RecordedOutcome.Failure(body);
    };
  }

  /** Returns whether a script has made its change. */
  static boolean isDone(List<@Nullable Object> answer) {
    return number(answer.get(0)) == 1;
  }

  static long number(@Nullable Object value) {
    if (value instanceof Long number) {
      return number;
    }
    throw unexpected();
  }

  private static String text(@Nullable Object value) {
    return wrap(value).toStringUtf8();
  }

  private static ByteString wrap(@Nullable Object value) {
    if (value instanceof byte[] bytes) {
      return UnsafeByteOperations.unsafeWrap(bytes);
    }
    throw unexpected();
  }

  private static IllegalStateException unexpected() {
    return new IllegalStateException("a record that this release of the library cannot read");
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static byte[] bytes(long number) {
    return bytes(Long.toString(number));
  }
}
