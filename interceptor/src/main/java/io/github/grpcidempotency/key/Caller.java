package io.github.grpcidempotency.key;

import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The authenticated principal on whose behalf a call runs. Keys of different callers never meet.
 *
 * @param userId the user; row-level security in the store follows it
 * @param namespace a subdivision of the user's operations (tenant, project), empty for none; at
 *     most 128 characters of {@code [A-Za-z0-9._~/-]}
 */
public record Caller(UUID userId, String namespace) {
  private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9._~/-]{0,128}");

  /**
   * Checks the namespace.
   *
   * @throws IllegalArgumentException if the namespace has other characters or is too long
   */
  public Caller {
    if (!NAMESPACE.matcher(namespace).matches()) {
      throw new IllegalArgumentException(
          "a caller's namespace is at most 128 characters of [A-Za-z0-9._~/-]");
    }
  }

  /** Returns a user's caller without a namespace. */
  public static Caller of(UUID userId) {
    return new Caller(userId, "");
  }

  /**
   * Returns the same user in another namespace.
   *
   * @throws IllegalArgumentException if the namespace is malformed
   */
  public Caller in(String namespace) {
    return new Caller(userId, namespace);
  }
}
