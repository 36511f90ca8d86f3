package io.github.grpcidempotency.client;

import io.github.grpcidempotency.proto.v1.KeyFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/** The key format of a method. Converts the key of an intent to this format. */
record KeyForm(KeyFormat format, String pattern) {

  /**
   * Returns a key for a header.
   *
   * @param chosen whether the user has created the intent, and so is responsible for its format; if
   *     not, the result is empty if the format does not accept a UUID
   */
  Optional<String> inHeader(Intent intent, boolean chosen) {
    return spelt(intent.key(), intent.uuid4(), chosen);
  }

  /** Returns a key for a field of the request: a UUID becomes one of version 4 (AIP-4235). */
  Optional<String> inField(Intent intent, boolean chosen) {
    return spelt(intent.isUuid() ? intent.uuid4() : intent.key(), intent.uuid4(), chosen);
  }

  /** Returns whether every UUID has this format. It is not known what a pattern accepts. */
  boolean fitsUuids() {
    return switch (format) {
      case KEY_FORMAT_UNSPECIFIED, KEY_FORMAT_UUID, KEY_FORMAT_OPAQUE, KEY_FORMAT_UUID4 -> true;
      case KEY_FORMAT_PATTERN, UNRECOGNIZED -> false;
    };
  }

  private Optional<String> spelt(String key, String uuid4, boolean chosen) {
    return switch (format) {
      case KEY_FORMAT_UNSPECIFIED, KEY_FORMAT_UUID, KEY_FORMAT_OPAQUE -> Optional.of(key);
      case KEY_FORMAT_UUID4 -> Optional.of(uuid4);
      case KEY_FORMAT_PATTERN ->
          Optional.of(key).filter(made -> chosen || Pattern.matches(pattern, made));
      case UNRECOGNIZED -> Optional.of(key).filter(made -> chosen);
    };
  }
}
