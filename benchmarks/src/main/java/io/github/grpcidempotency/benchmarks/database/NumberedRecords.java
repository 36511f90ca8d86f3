package io.github.grpcidempotency.benchmarks.database;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Random;
import java.util.UUID;

/**
 * Users and keys of records that follow from the records' numbers, so that any of millions can be
 * asked for without a list of them. {@code numbered_records.sql} makes the same.
 *
 * <p>A tenth of the records belongs to one user, the others to 16,384. Keys of even numbers are in
 * order of time (UUIDv7), a millisecond apart; those of odd numbers are random (UUIDv4).
 *
 * @param begunMillis when the first of them was made, in milliseconds since 1970
 */
public record NumberedRecords(long begunMillis) {
  private static final int OF_LARGE_USER = 26;
  private static final int OTHER_USERS = 0x3fff;
  private static final long USER_HIGH = 0x0000_0000_0000_4000L;
  private static final long USER_LOW = 0x8000_0000_0000_0000L;

  /** Returns under which key a record stands. */
  public IdempotencyKey key(long number) {
    byte[] digest = digest("record " + number);
    return new IdempotencyKey(
        caller(digest),
        (number % 2 == 0 ? timeOrdered(digest, begunMillis + number) : random(digest)).toString());
  }

  /** Returns the caller of a new record, one of the same users in the same shares. */
  public static Caller caller(Random random) {
    byte[] digest = new byte[16];
    random.nextBytes(digest);
    return caller(digest);
  }

  private static Caller caller(byte[] digest) {
    int user =
        (digest[15] & 0xff) < OF_LARGE_USER
            ? 0
            : 1 + ((digest[13] & 0xff) << 8 | (digest[12] & 0xff)) % (OTHER_USERS + 1);
    return Caller.of(new UUID(USER_HIGH, USER_LOW | user));
  }

  private static UUID random(byte[] digest) {
    byte[] bytes = digest.clone();
    bytes[6] = (byte) ((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (byte) ((bytes[8] & 0x3f) | 0x80);
    return uuid(bytes);
  }

  private static UUID timeOrdered(byte[] digest, long millis) {
    byte[] bytes = digest.clone();
    ByteBuffer time = ByteBuffer.allocate(Long.BYTES).putLong(millis);
    System.arraycopy(time.array(), 2, bytes, 0, 6);
    bytes[6] = (byte) ((bytes[6] & 0x0f) | 0x70);
    bytes[8] = (byte) ((bytes[8] & 0x3f) | 0x80);
    return uuid(bytes);
  }

  private static UUID uuid(byte[] bytes) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return new UUID(buffer.getLong(), buffer.getLong());
  }

  private static byte[] digest(String text) {
    try {
      return MessageDigest.getInstance("MD5").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError("every Java platform has MD5", impossible);
    }
  }
}
