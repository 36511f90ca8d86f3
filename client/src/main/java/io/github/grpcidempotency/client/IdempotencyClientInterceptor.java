package io.github.grpcidempotency.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.protobuf.Message;
import io.github.grpcidempotency.client.KeyPlan.CallKey;
import io.github.grpcidempotency.proto.ServedKey;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Adds keys to the calls of idempotent methods, so that gRPC, or an application that retries, can
 * safely send them twice.
 *
 * <ul>
 *   <li>A call of a unary method with the {@code (idempotency.v1.procedure)} option gets a key:
 *       that of the call's {@link Intent}, or else a new UUID of version 7. The key is put into the
 *       header, or into the first of the option's {@code key_sources} that accepts it: a header or
 *       a field of the request. A key in a field is a UUID of version 4 (AIP-4235).
 *   <li>A header or field that the user has set is never changed. If one of them is a key, or if
 *       the user has set a field from which the server computes the key (an assigned id, or
 *       content), no other key is added.
 *   <li>A call gets no key if its method prohibits keys, if the handler manages keys itself, or if
 *       no source accepts the key of the client.
 *   <li>A method without the option gets a key only if its call has an intent.
 *   <li>A handler must not pass on the key of the call that it serves: the inner call would wait
 *       for its own caller. A call with this key throws an {@link IllegalStateException}.
 *   <li>A call whose intent may have been sent before has the header {@code idempotency-retry}.
 *       gRPC marks its built-in retries by {@code grpc-previous-rpc-attempts}.
 * </ul>
 *
 * <p>A channel's interceptors run once per logical call, so all of gRPC's built-in retries (gRFC
 * A6) have the same key. Add this interceptor to the channel before all other interceptors.
 * Interceptors that are added later are called earlier, so this interceptor sees the headers that
 * they set.
 *
 * <pre>{@code
 * channelBuilder.intercept(IdempotencyClientInterceptor.create())
 * }</pre>
 *
 * <p>Thread-safe. Several channels can share one interceptor.
 */
public final class IdempotencyClientInterceptor implements ClientInterceptor {
  private static final Metadata.Key<String> RETRY =
      Metadata.Key.of(WireNames.RETRY, Metadata.ASCII_STRING_MARSHALLER);

  private static final Metadata.Key<String> REQUIRED =
      Metadata.Key.of(WireNames.REQUIRED, Metadata.ASCII_STRING_MARSHALLER);

  private final boolean required;
  private final Optional<Consumer<MethodDescriptor<?, ?>>> unprotected;

  private IdempotencyClientInterceptor(
      boolean required, Optional<Consumer<MethodDescriptor<?, ?>>> unprotected) {
    this.required = required;
    this.unprotected = unprotected;
  }

  /** Returns an interceptor. */
  public static IdempotencyClientInterceptor create() {
    return new IdempotencyClientInterceptor(false, Optional.empty());
  }

  /**
   * Returns the same interceptor with the header {@code idempotency-required: true} on its calls.
   * Without the header, a server may run a call without protection during an outage of its store,
   * or if it finds no key or no caller. With the header, the server refuses such a call. A server
   * on which the method is not idempotent ignores the header; {@link #onUnprotected} and {@link
   * Reply#isProtected} detect this.
   */
  public IdempotencyClientInterceptor requireProtection() {
    return new IdempotencyClientInterceptor(true, unprotected);
  }

  /**
   * Returns the same interceptor with a listener that is called once for every call that should
   * have been protected but was answered with OK and without the trailer {@code
   * idempotency-operation}. A retry of such a call might run it again. The listener is called on
   * the channel's executor, and should not block.
   *
   * @param listener receives the method
   */
  public IdempotencyClientInterceptor onUnprotected(Consumer<MethodDescriptor<?, ?>> listener) {
    return new IdempotencyClientInterceptor(required, Optional.of(listener));
  }

  @Override
  public <RequestT, ResponseT> ClientCall<RequestT, ResponseT> interceptCall(
      MethodDescriptor<RequestT, ResponseT> method, CallOptions options, Channel next) {
    Optional<Intent> chosen = Optional.ofNullable(options.getOption(Intent.OPTION));
    CallOptions counted =
        chosen.map(intent -> options.withStreamTracerFactory(intent.streams())).orElse(options);
    KeyPlan plan = KeyPlan.of(method, chosen.isPresent());
    return new MarkedCall<>(
        next.newCall(method, counted),
        plan,
        chosen,
        plan.takesKeys() && required,
        unprotected
            .filter(listener -> plan.takesKeys())
            .map(listener -> () -> listener.accept(method)));
  }

  /**
   * A call with the library's headers, and with a key in a header or in a field of its request. If
   * the request can contain a key, the call starts when the request is known.
   */
  private static final class MarkedCall<RequestT, ResponseT>
      extends SimpleForwardingClientCall<RequestT, ResponseT> {
    private final KeyPlan plan;
    private final Optional<Intent> chosen;
    private final boolean required;
    private final Optional<Runnable> unprotected;

    @GuardedBy("this")
    private Optional<Delayed<ResponseT>> delayed = Optional.empty();

    /** A call that has not been started yet, because its request is not known. */
    private static final class Delayed<ResponseT> {
      private final Listener<ResponseT> listener;
      private final Metadata headers;
      private int requested;
      private Optional<Boolean> compression = Optional.empty();

      Delayed(Listener<ResponseT> listener, Metadata headers) {
        this.listener = listener;
        this.headers = headers;
      }
    }

    MarkedCall(
        ClientCall<RequestT, ResponseT> call,
        KeyPlan plan,
        Optional<Intent> chosen,
        boolean required,
        Optional<Runnable> unprotected) {
      super(call);
      this.plan = plan;
      this.chosen = chosen;
      this.required = required;
      this.unprotected = unprotected;
    }

    @Override
    public synchronized void start(Listener<ResponseT> listener, Metadata headers) {
      if (required && !headers.containsKey(REQUIRED)) {
        headers.put(REQUIRED, "true");
      }
      if (chosen.filter(Intent::mayHaveBeenSent).isPresent() && !headers.containsKey(RETRY)) {
        headers.put(RETRY, "true");
      }
      delayed =
          Optional.of(
              new Delayed<>(
                  unprotected.isEmpty() ? listener : new Watched<>(listener, unprotected.get()),
                  headers));
      if (!plan.readsRequest()) {
        addKey(Optional.empty());
        startNow();
      }
    }

    @Override
    public synchronized void request(int messages) {
      if (delayed.isPresent()) {
        delayed.get().requested += messages;
      } else {
        super.request(messages);
      }
    }

    @Override
    public void sendMessage(RequestT request) {
      super.sendMessage(started(request));
    }

    @Override
    public void halfClose() {
      startNow();
      super.halfClose();
    }

    @Override
    public void cancel(@Nullable String message, @Nullable Throwable cause) {
      startNow();
      super.cancel(message, cause);
    }

    /** A call that waits for its request is ready for it. */
    @Override
    public synchronized boolean isReady() {
      return delayed.isPresent() || super.isReady();
    }

    @Override
    public synchronized void setMessageCompression(boolean enabled) {
      if (delayed.isPresent()) {
        delayed.get().compression = Optional.of(enabled);
      } else {
        super.setMessageCompression(enabled);
      }
    }

    @SuppressWarnings("unchecked") // a message with one more field set is of the same type
    private synchronized RequestT started(RequestT request) {
      if (delayed.isEmpty()) {
        return request;
      }
      RequestT keyed =
          addKey(KeyPlan.message(request)).map(filled -> (RequestT) filled).orElse(request);
      startNow();
      return keyed;
    }

    /** Adds the key to the headers, or returns the request with the key in a field. */
    @GuardedBy("this")
    private Optional<Message> addKey(Optional<Message> request) {
      Metadata headers = delayed.orElseThrow().headers;
      CallKey key =
          plan.keyOf(headers, request, chosen.orElseGet(Intent::create), chosen.isPresent());
      refuseServedKey(headers, request, key);
      if (key instanceof CallKey.Added added && added.place() instanceof KeyPlan.Header header) {
        headers.put(header.name(), added.key());
      } else if (key instanceof CallKey.Added added
          && added.place() instanceof KeyPlan.Field place) {
        return request.map(message -> place.field().with(message, added.key()));
      }
      return Optional.empty();
    }

    private void refuseServedKey(Metadata headers, Optional<Message> request, CallKey key) {
      if (ServedKey.current().filter(served -> sends(served, headers, request, key)).isPresent()) {
        throw new IllegalStateException(
            "a handler must not pass on the key of the call that it serves, because the inner call"
                + " would wait for its own caller: send CurrentOperation.outboundKey(name)");
      }
    }

    private boolean sends(String served, Metadata headers, Optional<Message> request, CallKey key) {
      return plan.holds(served, headers, request)
          || KeyPlan.STANDARD_HEADER.holds(served, headers, request)
          || (key instanceof CallKey.Added added && served.equalsIgnoreCase(added.key()));
    }

    private synchronized void startNow() {
      if (delayed.isPresent()) {
        Delayed<ResponseT> start = delayed.get();
        delayed = Optional.empty();
        super.start(start.listener, start.headers);
        start.compression.ifPresent(super::setMessageCompression);
        if (start.requested > 0) {
          super.request(start.requested);
        }
      }
    }
  }

  /** Reads the trailers of an answer. */
  private static final class Watched<ResponseT>
      extends SimpleForwardingClientCallListener<ResponseT> {
    private final Runnable unprotected;

    Watched(ClientCall.Listener<ResponseT> listener, Runnable unprotected) {
      super(listener);
      this.unprotected = unprotected;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      try {
        if (status.isOk() && !Reply.isProtected(trailers)) {
          unprotected.run();
        }
      } finally {
        super.onClose(status, trailers);
      }
    }
  }
}
