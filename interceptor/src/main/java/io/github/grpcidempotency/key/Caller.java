package io.github.grpcidempotency.key;

import io.github.grpcidempotency.key.internal.HashedUuid;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Optional;
import java.util.UUID;

/**
 * The authenticated principal on whose behalf a call runs. Keys of different callers are
 * independent, even if their text is the same. The same user in another tenant or project is a
 * different caller.
 *
 * @param userId the user; row-level security in the store uses this id
 * @param tenant the tenant (organisation, account) that the user acts in, if there are tenants
 * @param project the project within the tenant, if the call belongs to one
 */
public record Caller(UUID userId, Optional<String> tenant, Optional<String> project) {
  /**
   * The namespace of {@link #ofSubject}, which never changes: the name-based UUID of {@code
   * grpcidempotency.github.io} in the namespace of DNS names.
   */
  public static final UUID SUBJECT_NAMESPACE =
      UUID.fromString("8036a28e-4530-5851-817c-a01c0b249c17");

  private static final int MAX_CHARACTERS = 63;

  /**
   * Checks the names.
   *
   * @throws IllegalArgumentException if a name does not have 1 to 63 characters, begins or ends
   *     with white space, or has a control character or an unpaired surrogate
   */
  public Caller {
    check("tenant", tenant);
    check("project", project);
  }

  /** Returns the caller for a user, outside all tenants and projects. */
  public static Caller of(UUID userId) {
    return new Caller(userId, Optional.empty(), Optional.empty());
  }

  /**
   * Returns the caller for a subject that is not a UUID, such as {@code auth0|65a1f0} or the {@code
   * sub} claim of a token. Its user id is the name-based UUID of the subject's UTF-8 bytes in
   * {@link #SUBJECT_NAMESPACE} (RFC 9562, version 5). It is the same on every server and in every
   * language.
   *
   * <p>A subject is unique for its issuer only. If you trust several issuers, put the issuer in
   * front of the subject.
   *
   * @param subject the subject, which is used unchanged: not trimmed and not converted to lower
   *     case
   * @throws IllegalArgumentException if the subject is empty or not valid Unicode
   */
  public static Caller ofSubject(String subject) {
    if (subject.isEmpty()) {
      throw new IllegalArgumentException("a subject must not be empty");
    }
    return of(nameBased(SUBJECT_NAMESPACE, utf8(subject)));
  }

  /**
   * Returns the same user in a tenant, outside its projects.
   *
   * @throws IllegalArgumentException if the name is malformed
   */
  public Caller inTenant(String name) {
    return new Caller(userId, Optional.of(name), Optional.empty());
  }

  /**
   * Returns the same user in a project of the same tenant.
   *
   * @throws IllegalArgumentException if the name is malformed
   */
  public Caller inProject(String name) {
    return new Caller(userId, tenant, Optional.of(name));
  }

  /**
   * Rejects invalid Unicode. {@code getBytes} would replace it by a question mark, which would make
   * two subjects equal.
   */
  private static ByteBuffer utf8(String subject) {
    try {
      return StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(subject));
    } catch (CharacterCodingException malformed) {
      throw new IllegalArgumentException("a subject must be valid Unicode", malformed);
    }
  }

  private static UUID nameBased(UUID namespace, ByteBuffer name) {
    MessageDigest digest = sha1();
    digest.update(
        ByteBuffer.allocate(2 * Long.BYTES)
            .putLong(namespace.getMostSignificantBits())
            .putLong(namespace.getLeastSignificantBits())
            .flip());
    digest.update(name);
    return HashedUuid.of(digest.digest(), 5);
  }

  private static MessageDigest sha1() {
    try {
      return MessageDigest.getInstance("SHA-1");
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError("every Java platform has SHA-1", impossible);
    }
  }

  private static void check(String what, Optional<String> name) {
    if (name.isPresent() && !isName(name.get())) {
      throw new IllegalArgumentException(
          ("a %s must have 1 to 63 characters, without white space at its ends, control characters"
                  + " and unpaired surrogates")
              .formatted(what));
    }
  }

  private static boolean isName(String name) {
    return !name.isEmpty()
        && name.length() <= MAX_CHARACTERS
        && name.equals(name.strip())
        && IdempotencyKey.isText(name);
  }
}
