package io.github.grpcidempotency.client;

import static java.util.Objects.requireNonNull;

import com.google.common.util.concurrent.ListenableFuture;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.MetadataUtils;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A response, with the information in the server's trailers. A {@link RetryingCaller} returns a
 * reply. For calls of a stub, use {@link #blocking} or {@link #future}, each for exactly one call:
 *
 * <pre>{@code
 * Reply<Order> reply = Reply.blocking(stub, orders -> orders.createOrder(request));
 * }</pre>
 *
 * <p>A reply of a server without the library contains only the response. Immutable, if the response
 * is.
 *
 * @param <T> the type of the response
 */
public final class Reply<T> {
  /** The status of the asynchronous work behind the created resource. */
  public enum Status {
    /** The work is not done yet, or its status is unknown. */
    PROCESSING,
    /** The work is done, or there is no asynchronous work. */
    COMPLETED,
    /** The work has failed. The resource exists, but its asynchronous work was not done. */
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

  /** Returns a reply of a response and its trailers, for code that has captured them itself. */
  public static <T> Reply<T> of(T response, Metadata trailers) {
    return new Reply<>(response, trailers);
  }

  /**
   * Makes one call with a blocking stub.
   *
   * @throws io.grpc.StatusRuntimeException if the call fails
   */
  public static <S extends AbstractStub<S>, T> Reply<T> blocking(S stub, Function<S, T> call) {
    AtomicReference<Metadata> trailers = new AtomicReference<>(new Metadata());
    T response = call.apply(stub.withInterceptors(capturing(trailers)));
    return of(response, requireNonNull(trailers.get()));
  }

  /**
   * Makes one call with a future stub. The result fails with the call's own exception, a {@link
   * io.grpc.StatusRuntimeException}; cancelling it cancels the call.
   */
  public static <S extends AbstractStub<S>, T> CompletableFuture<Reply<T>> future(
      S stub, Function<S, ListenableFuture<T>> call) {
    AtomicReference<Metadata> trailers = new AtomicReference<>(new Metadata());
    ListenableFuture<T> response = call.apply(stub.withInterceptors(capturing(trailers)));
    CompletableFuture<Reply<T>> reply = new CompletableFuture<>();
    response.addListener(
        () -> complete(reply, response, requireNonNull(trailers.get())), Runnable::run);
    CompletableFuture<Reply<T>> unused =
        reply.whenComplete(
            (done, failure) -> {
              if (reply.isCancelled()) {
                response.cancel(true);
              }
            });
    return reply;
  }

  /** Keeps the trailers of a call before its end is reported to the caller. */
  private static ClientInterceptor capturing(AtomicReference<Metadata> trailers) {
    return MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers);
  }

  /** Completes a reply with a response that has arrived. */
  private static <T> void complete(
      CompletableFuture<Reply<T>> reply, ListenableFuture<T> response, Metadata trailers) {
    try {
      reply.complete(of(response.get(), trailers));
    } catch (ExecutionException failure) {
      reply.completeExceptionally(Optional.ofNullable(failure.getCause()).orElse(failure));
    } catch (InterruptedException impossible) {
      Thread.currentThread().interrupt();
      reply.completeExceptionally(impossible);
    } catch (Throwable thrown) {
      reply.completeExceptionally(thrown);
    }
  }

  /** Returns the method's response. */
  public T response() {
    return response;
  }

  /**
   * Returns the status of the asynchronous work; {@code PROCESSING} for a value that this version
   * does not know. Empty if the server does not send a status; the client cannot wait for the work
   * in that case.
   */
  public Optional<Status> status() {
    return status;
  }

  /** Returns whether this is a replay of the first answer, for which no handler ran. */
  public boolean replayed() {
    return replayed;
  }

  /**
   * Returns whether the server has rebuilt the response of a replay from the current resource,
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
   * this answer again. If not, a retry might run the call again. The server has no interceptor, or
   * no descriptor of this method; or it found no key or no caller; or its store had an outage.
   */
  public boolean isProtected() {
    return operationId.isPresent();
  }

  static boolean isProtected(Metadata trailers) {
    return trailers.containsKey(OPERATION);
  }

  /** Returns when the record expires. After that, a call with the same key is a new call. */
  public Optional<Instant> expires() {
    return expires;
  }

  /**
   * Returns the paths of the fields that are missing in the response of a replay, because the
   * server does not record them; empty if this is not a replay.
   */
  public Set<String> omittedFields() {
    return omittedFields;
  }

  /** Returns everything except the response, which may be secret. */
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
