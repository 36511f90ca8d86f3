package io.github.grpcidempotency.client;

import com.github.f4b6a3.uuid.UuidCreator;
import io.grpc.CallOptions;
import io.grpc.stub.AbstractStub;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The intent that one thing be done: one request to one method. Make it where the user decides, not
 * where the call is sent. The same intent always gives the same key. Write it with {@link
 * #toString} and read it again with {@link #parse}, and it outlives the process.
 *
 * <pre>{@code
 * Intent intent = Intent.create(); // when the button is pressed, not in the retry loop
 * Order order = intent.on(stub).createOrder(request);
 * }</pre>
 *
 * <p>It needs {@link IdempotencyClientInterceptor} on the channel, or a {@link RetryingCaller}. The
 * server refuses another request under the same intent.
 *
 * <p>Once a call with it may have been sent, its later calls say so by the header {@code
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
  private final boolean sentEarlier;
  private final StreamCounter streams = new StreamCounter();

  private Intent(String key, boolean sentEarlier) {
    this.key = key;
    this.sentEarlier = sentEarlier;
  }

  /**
   * Makes a new intent, whose key is a UUID of version 7 (RFC 9562), which keeps indexes in order.
   */
  public static Intent create() {
    return new Intent(UuidCreator.getTimeOrderedEpoch().toString(), false);
  }

  /**
   * Reads what {@link #toString} has written. It also accepts a key that the client has made
   * itself, for a method whose key format is not a UUID.
   *
   * @param text 1 to 255 visible ASCII characters
   * @throws IllegalArgumentException if the text is not as described
   */
  public static Intent parse(String text) {
    if (!KEY.matcher(text).matches()) {
      throw new IllegalArgumentException("an intent must have 1 to 255 visible ASCII characters");
    }
    return new Intent(text, false);
  }

  /** Returns the stub with this intent in its call options. Use it for one call and its retries. */
  public <S extends AbstractStub<S>> S on(S stub) {
    return stub.withOption(OPTION, this);
  }

  /**
   * Returns the same intent, as one that may have been sent before: by an earlier process, which
   * has written it down, or by another. All of its calls say that they are retries. That is only a
   * hint, which spares the server a handler that it would have to stop; if it is wrong, the call
   * costs one more round trip to the server's database.
   */
  public Intent sentBefore() {
    return new Intent(key, true);
  }

  /** Returns whether a call with this intent may have been sent. */
  boolean mayHaveBeenSent() {
    return sentEarlier || streams.count() > 0;
  }

  /** Returns what notices that a call with this intent is sent. */
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
   * Returns the key in the form that AIP-155 and AIP-4235 ask for in a request's field, a UUID of
   * version 4: the key itself if it is one, and otherwise always the same digest of it.
   */
  String uuid4() {
    if (isUuid() && UUID.fromString(key).version() == 4) {
      return key;
    }
    ByteBuffer digest = ByteBuffer.wrap(sha256(key.getBytes(StandardCharsets.US_ASCII)));
    long version4 = (digest.getLong() & 0xFFFF_FFFF_FFFF_0FFFL) | 0x4000L;
    long variant2 = (digest.getLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
    return new UUID(version4, variant2).toString();
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Returns the text that {@link #parse} reads: the key itself. It should not be logged. */
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
