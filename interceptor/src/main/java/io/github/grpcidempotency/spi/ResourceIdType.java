package io.github.grpcidempotency.spi;

import io.github.grpcidempotency.resource.ResourceId;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The type of resource ids in a store. */
public enum ResourceIdType {
  /** A UUID. */
  UUID,
  /** A number of 64 bits. */
  BIGINT,
  /** A number of 32 bits. */
  INTEGER,
  /** Any text. */
  TEXT;

  /** Returns the type of this name in SQL, such as {@code bigint}; empty if there is none. */
  public static Optional<ResourceIdType> ofSql(String name) {
    return Arrays.stream(values()).filter(type -> type.sqlName().equals(name)).findFirst();
  }

  /** Returns the type's name in SQL, such as {@code bigint}. */
  public String sqlName() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns an id as a store of this type returns it, for example a UUID in lower case; empty if
   * the id is not of this type.
   */
  public Optional<ResourceId> read(ResourceId id) {
    try {
      return Optional.of(
          switch (this) {
            case UUID -> ResourceId.of(id.asUuid());
            case BIGINT -> ResourceId.of(id.asLong());
            case INTEGER -> {
              int number = Math.toIntExact(id.asLong());
              yield ResourceId.of(number);
            }
            case TEXT -> id;
          });
    } catch (IllegalStateException | ArithmeticException other) {
      return Optional.empty();
    }
  }
}
