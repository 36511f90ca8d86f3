package io.github.grpcidempotency.resource;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * The id of a resource, as text. Two ids are equal if their texts are; the text of a UUID is in
 * lower case, and that of a number is decimal. Immutable.
 */
public final class ResourceId {
  private static final int MAX_LENGTH = 500;

  private final String text;

  private ResourceId(String text) {
    this.text = text;
  }

  public static ResourceId of(UUID id) {
    return new ResourceId(id.toString());
  }

  public static ResourceId of(long id) {
    return new ResourceId(Long.toString(id));
  }

  /**
   * Returns the id with this text, which may also be that of a UUID or of a number.
   *
   * @throws IllegalArgumentException if the text is empty, has more than 500 characters, or
   *     contains U+0000
   */
  public static ResourceId of(String id) {
    if (id.isEmpty() || id.length() > MAX_LENGTH || id.indexOf('\0') >= 0) {
      throw new IllegalArgumentException(
          "a resource id has 1 to %d characters, without U+0000".formatted(MAX_LENGTH));
    }
    return new ResourceId(id);
  }

  /**
   * Returns the id as a UUID.
   *
   * @throws IllegalStateException if the text is not that of a UUID
   */
  public UUID asUuid() {
    return uuid().orElseThrow(() -> new IllegalStateException("the resource id is not a UUID"));
  }

  private Optional<UUID> uuid() {
    try {
      return Optional.of(UUID.fromString(text));
    } catch (IllegalArgumentException other) {
      return Optional.empty();
    }
  }

  /**
   * Returns the id as a number.
   *
   * @throws IllegalStateException if the text is not that of a {@code long}
   */
  public long asLong() {
    return number().orElseThrow(() -> new IllegalStateException("the resource id is not a long"));
  }

  private OptionalLong number() {
    try {
      return OptionalLong.of(Long.parseLong(text));
    } catch (NumberFormatException other) {
      return OptionalLong.empty();
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ResourceId id && text.equals(id.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  /** Returns the text. */
  @Override
  public String toString() {
    return text;
  }
}
