package io.github.grpcidempotency.client;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.common.hash.Hashing;
import io.github.grpcidempotency.client.KeyPlan.CallKey;
import io.github.grpcidempotency.proto.Experimental;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.stub.AbstractStub;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The intent to do one thing: one request to one method. Create it where the user decides, not
 * where the call is sent. The same intent always has the same key. To keep it after the process
 * ends, store {@link #toString}, and read it again with {@link #parse}.
 *
 * <pre>{@code
 * Intent intent = Intent.create(); // when the button is pressed, not in the retry loop
 * Order order = intent.on(stub).createOrder(request);
 * }</pre>
 *
 * <p>It needs {@link IdempotencyClientInterceptor} on the channel, or a {@link RetryingCaller}. The
 * server refuses another request with the same intent.
 *
 * <p>After a call with this intent may have been sent, later calls have the header {@code
 * idempotency-retry: true}, and the server looks for the answer before it starts a handler. See
 * {@link #sentBefore} for an intent that another process may have sent.
 *
 * <p>Thread-safe. Two intents are equal if their keys are.
 */
public final class Intent {
  /** The option that carries a call's intent; {@link #on} sets it. */
  public static final CallOptions.Key<Intent> OPTION = CallOptions.Key.create("idempotency-intent");

  private static final Pattern KEY = Pattern.compile("[!-~]{1,255}");
  private static final Pattern UUID_TEXT =
      Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

  private final String key;
  private final boolean created;
  private final boolean sentEarlier;
  private final StreamCounter streams = new StreamCounter();

  private Intent(String key, boolean created, boolean sentEarlier) {
    this.key = key;
    this.created = created;
    this.sentEarlier = sentEarlier;
  }

  /**
   * Creates a new intent. Its key is a UUID of version 7 (RFC 9562), whose order in time suits
   * database indexes.
   */
  public static Intent create() {
    return new Intent(UuidCreator.getTimeOrderedEpoch().toString(), true, false);
  }

  /**
   * Reads the text of {@link #toString}. It also accepts a key of the client's own, for a method
   * whose key format is not a UUID.
   *
   * @param text 1 to 255 visible ASCII characters
   * @throws IllegalArgumentException if the text is not valid
   */
  public static Intent parse(String text) {
    if (!KEY.matcher(text).matches()) {
      throw new IllegalArgumentException("an intent must have 1 to 255 visible ASCII characters");
    }
    return new Intent(text, false, false);
  }

  /** Returns the stub with this intent in its call options. Use it for one call and its retries. */
  public <S extends AbstractStub<S>> S on(S stub) {
    return stub.withOption(OPTION, this);
  }

  /**
   * Returns the same intent, marked as possibly sent before, for example by an earlier process that
   * stored it. All of its calls are marked as retries. This is only a hint, with which the server
   * avoids starting a handler that it would have to stop. If the hint is wrong, the call costs one
   * more round trip to the server's database.
   */
  public Intent sentBefore() {
    return new Intent(key, created, true);
  }

  /**
   * Returns the key that a call of a method with this intent sends, in a header or in a field of
   * its request. It differs from the text of the intent if the method requires a UUID of version 4.
   * Use it to find the call with {@code idempotency.v1.Recovery}.
   *
   * @return the key; empty if the method takes no key from the client. A call whose request or
   *     headers already contain a key has that key instead
   */
  public Optional<String> keyFor(MethodDescriptor<?, ?> method) {
    return KeyPlan.of(method, true).keyOf(new Metadata(), Optional.empty(), this, true)
            instanceof CallKey.Added added
        ? Optional.of(added.key())
        : Optional.empty();
  }

  /**
   * Throws an exception for a call that must not be sent twice. Call it before you store a request
   * for a later call.
   *
   * @throws IllegalArgumentException if the method is not unary, or the call would carry no key
   */
  @Experimental
  public <RequestT> void requireKey(MethodDescriptor<RequestT, ?> method, RequestT request) {
    KeyPlan.requireKey(method, request, this, !created);
  }

  /** Returns whether a call with this intent may have been sent. */
  boolean mayHaveBeenSent() {
    return sentEarlier || streams.count() > 0;
  }

  /** Returns the counter of the streams on which calls with this intent were sent. */
  StreamCounter streams() {
    return streams;
  }

  /** Returns the key, for a header. */
  String key() {
    return key;
  }

  boolean isUuid() {
    return UUID_TEXT.matcher(key).matches();
  }

  /**
   * Returns the key in the form that AIP-155 and AIP-4235 require for a request field, a UUID of
   * version 4: the key itself if it has this form, and otherwise a hash of the key, which is always
   * the same.
   */
  String uuid4() {
    if (isUuid() && UUID.fromString(key).version() == 4) {
      return key;
    }
    ByteBuffer digest = ByteBuffer.wrap(Hashing.sha256().hashString(key, US_ASCII).asBytes());
    long version4 = (digest.getLong() & 0xFFFF_FFFF_FFFF_0FFFL) | 0x4000L;
    long variant2 = (digest.getLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
    return new UUID(version4, variant2).toString();
  }

  /** Returns the text that {@link #parse} reads: the key itself. Do not log it. */
  @Override
  public String toString() {
    return key;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Intent intent && intent.key.equals(key);
  }

  @Override
  public int hashCode() {
    return key.hashCode();
  }
}
