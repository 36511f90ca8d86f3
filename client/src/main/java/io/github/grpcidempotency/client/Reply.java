package io.github.grpcidempotency.client;

import com.google.common.util.concurrent.ListenableFuture;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.Metadata;
import io.grpc.stub.AbstractStub;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A response, and what the server's trailers say of it. A {@link RetryingCaller} returns one; for a
 * stub's own calls there are {@link #blocking} and {@link #future}, each around exactly one call:
 *
 * <pre>{@code
 * Reply<Order> reply = Reply.blocking(stub, orders -> orders.createOrder(request));
 * }</pre>
 *
 * <p>From a server without the library only the response is there. Immutable, if the response is.
 *
 * @param <T> the response
 */
public final class Reply<T> {
  /** How far the asynchronous work behind the created resource has come. */
  public enum Status {
    /** Not done yet, or not known. */
    PROCESSING,
    /** Done, or there was none. */
    COMPLETED,
    /** Given up: the resource exists, but its asynchronous work does not. */
    FAILED;

    private static Status of(String trailer) {
      return Arrays.stream(values())
          .filter(status -> status.name().toLowerCase(Locale.ROOT).equals(trailer))
          .findFirst()
          .orElse(PROCESSING);
    }
  }

  private static final Metadata.Key<String> STATUS = ascii(WireNames.STATUS);
  private static final Metadata.Key<String> REPLAYED = ascii(WireNames.REPLAYED);
  private static final Metadata.Key<String> OPERATION = ascii(WireNames.OPERATION);
  private static final Metadata.Key<String> EXPIRES = ascii(WireNames.EXPIRES);
  private static final Metadata.Key<String> RECONSTRUCTED = ascii(WireNames.RECONSTRUCTED);
  private static final Metadata.Key<String> OMITTED = ascii(WireNames.OMITTED);

  private final T response;
  private final Optional<Status> status;
  private final boolean replayed;
  private final boolean reconstructed;
  private final Optional<UUID> operationId;
  private final Optional<Instant> expires;
  private final Set<String> omittedFields;

  private Reply(T response, Metadata trailers) {
    this.response = response;
    this.status = Optional.ofNullable(trailers.get(STATUS)).map(Status::of);
    this.replayed = "true".equals(trailers.get(REPLAYED));
    this.reconstructed = "true".equals(trailers.get(RECONSTRUCTED));
    this.operationId = Optional.ofNullable(trailers.get(OPERATION)).flatMap(Reply::uuid);
    this.expires = Optional.ofNullable(trailers.get(EXPIRES)).flatMap(Reply::instant);
    this.omittedFields =
        Optional.ofNullable(trailers.get(OMITTED)).stream()
            .flatMap(fields -> Arrays.stream(fields.split(",", -1)))
            .filter(field -> !field.isEmpty())
            .collect(Collectors.toUnmodifiableSet());
  }

  private Reply(Reply<T> earlier, Status status, Optional<Instant> expires) {
    this.response = earlier.response;
    this.status = Optional.of(status);
    this.replayed = earlier.replayed;
    this.reconstructed = earlier.reconstructed;
    this.operationId = earlier.operationId;
    this.expires = expires.or(() -> earlier.expires);
    this.omittedFields = earlier.omittedFields;
  }

  static <T> Reply<T> of(T response, Metadata trailers) {
    return new Reply<>(response, trailers);
  }

  /** Returns the same answer with what was heard of it since. */
  Reply<T> heard(Status now, Optional<Instant> expiresNow) {
    return new Reply<>(this, now, expiresNow);
  }

  /** Returns whether the asynchronous work behind it is known not to have ended. */
  boolean isProcessing() {
    return status.equals(Optional.of(Status.PROCESSING));
  }

  /**
   * Makes one call with a blocking stub.
   *
   * @throws io.grpc.StatusRuntimeException what the call throws
   */
  public static <S extends AbstractStub<S>, T> Reply<T> blocking(S stub, Function<S, T> call) {
    TrailersCapture capture = new TrailersCapture();
    T response = call.apply(stub.withInterceptors(capture));
    return of(response, capture.trailers());
  }

  /**
   * Makes one call with a future stub. The result fails with the call's own exception, a {@link
   * io.grpc.StatusRuntimeException}; cancelling it cancels the call.
   */
  public static <S extends AbstractStub<S>, T> CompletableFuture<Reply<T>> future(
      S stub, Function<S, ListenableFuture<T>> call) {
    TrailersCapture capture = new TrailersCapture();
    ListenableFuture<T> response = call.apply(stub.withInterceptors(capture));
    CompletableFuture<Reply<T>> reply = new CompletableFuture<>();
    response.addListener(
        () -> TrailersCapture.complete(reply, response, capture::trailers), Runnable::run);
    CompletableFuture<Reply<T>> unused =
        reply.whenComplete(
            (done, failure) -> {
              if (reply.isCancelled()) {
                response.cancel(true);
              }
            });
    return reply;
  }

  /** Returns the method's response. */
  public T response() {
    return response;
  }

  /**
   * Returns how far the asynchronous work has come; a value of tomorrow's is {@code PROCESSING}.
   * Empty if the server does not say, so that nobody can wait for the work.
   */
  public Optional<Status> status() {
    return status;
  }

  /** Returns whether this is the first answer once more, and nothing was run for it. */
  public boolean replayed() {
    return replayed;
  }

  /**
   * Returns whether the server has made the response of a replay from its resource as that is now,
   * because it does not record the response itself.
   */
  public boolean reconstructed() {
    return reconstructed;
  }

  /** Returns the id of the server's record of the operation. */
  public Optional<UUID> operationId() {
    return operationId;
  }

  /**
   * Returns whether the server has protected the call, so that the same call with the same key gets
   * this answer again. If not, there is no interceptor on the server, or none for this method, or
   * it accepted no key, or its store had an outage. A retry might run the call again.
   */
  public boolean isProtected() {
    return operationId.isPresent();
  }

  static boolean isProtected(Metadata trailers) {
    return trailers.containsKey(OPERATION);
  }

  /** Returns until when the server answers retries. After that, the key runs as new. */
  public Optional<Instant> expires() {
    return expires;
  }

  /**
   * Returns the paths of the fields that the response lacks because the server never records them;
   * empty but for replays.
   */
  public Set<String> omittedFields() {
    return omittedFields;
  }

  /** Returns all but the response, which may be secret. */
  @Override
  public String toString() {
    return "Reply[status=%s, replayed=%s, reconstructed=%s, operationId=%s, expires=%s, omittedFields=%s]"
        .formatted(
            status.map(Enum::name).orElse("none"),
            replayed,
            reconstructed,
            operationId.map(UUID::toString).orElse("none"),
            expires.map(Instant::toString).orElse("none"),
            omittedFields);
  }

  static Optional<UUID> uuid(String text) {
    try {
      return Optional.of(UUID.fromString(text));
    } catch (IllegalArgumentException malformed) {
      return Optional.empty();
    }
  }

  private static Optional<Instant> instant(String text) {
    try {
      return Optional.of(Instant.parse(text));
    } catch (DateTimeParseException malformed) {
      return Optional.empty();
    }
  }

  private static Metadata.Key<String> ascii(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}
