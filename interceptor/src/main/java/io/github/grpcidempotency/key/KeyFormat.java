package io.github.grpcidempotency.key;

import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Checks a raw key and returns its canonical form. Implementations are pure and thread-safe. They
 * get only keys of at most 512 characters.
 *
 * <p>Every key that a format accepts must also be {@linkplain IdempotencyKey#problemOf usable as a
 * key}.
 */
@FunctionalInterface
public interface KeyFormat {
  /** Returns the canonical form of a well-formed raw key, or empty for a malformed one. */
  Optional<String> canonicalize(String raw);

  /** Returns a description of the keys that this format accepts, for error messages. */
  default String description() {
    return "a key in the service's own format";
  }

  /**
   * Returns this format with another description, such as "an order number: AB- and six digits".
   */
  default KeyFormat describedAs(String description) {
    KeyFormat format = this;
    return new KeyFormat() {
      @Override
      public Optional<String> canonicalize(String raw) {
        return format.canonicalize(raw);
      }

      @Override
      public String description() {
        return description;
      }
    };
  }

  /** Accepts a UUID in its 36-character text form (RFC 9562). The canonical form is lower case. */
  static KeyFormat uuid() {
    KeyFormat uuid =
        raw -> isUuid(raw) ? Optional.of(raw.toLowerCase(Locale.ROOT)) : Optional.empty();
    return uuid.describedAs("a UUID: 36 characters, hexadecimal digits in groups of 8-4-4-4-12");
  }

  /** Called for every call with a key. A regular expression would take ten times as long. */
  private static boolean isUuid(String raw) {
    if (raw.length() != 36) {
      return false;
    }
    for (int i = 0; i < raw.length(); i++) {
      boolean hyphen = i == 8 || i == 13 || i == 18 || i == 23;
      if (hyphen ? raw.charAt(i) != '-' : !HexFormat.isHexDigit(raw.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  /**
   * Accepts random UUIDs only (version 4 of RFC 9562), as AIP-155 requires for {@code request_id}.
   */
  static KeyFormat uuid4() {
    Pattern version4 =
        Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
    KeyFormat uuid = uuid();
    KeyFormat uuid4 = raw -> uuid.canonicalize(raw).filter(key -> version4.matcher(key).matches());
    return uuid4.describedAs(
        "a random UUID (version 4): 36 characters, hexadecimal digits in groups of 8-4-4-4-12");
  }

  /**
   * Accepts opaque keys: {@code [A-Za-z0-9._~-]{1,255}}, case-sensitive. These are the unreserved
   * characters of a URI (RFC 3986). The IETF draft draft-ietf-httpapi-idempotency-key-header leaves
   * the format of keys to the server.
   */
  static KeyFormat opaque() {
    return matching(Pattern.compile("[A-Za-z0-9._~-]{1,255}"))
        .describedAs("1 to 255 of the characters A-Z a-z 0-9 . _ ~ -");
  }

  /** Accepts keys that completely match a pattern, and leaves them unchanged. */
  static KeyFormat matching(Pattern pattern) {
    KeyFormat matching =
        raw ->
            IdempotencyKey.isShort(raw) && pattern.matcher(raw).matches()
                ? Optional.of(raw)
                : Optional.empty();
    return matching.describedAs("a text that matches " + pattern);
  }
}
