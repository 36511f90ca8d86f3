package io.github.grpcidempotency.cli;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.UUID;
import picocli.CommandLine.TypeConversionException;

/** Parses values of options. The messages contain no names of Java classes. */
final class Converters {
  private Converters() {}

  static UUID uuid(String text) {
    try {
      return UUID.fromString(text);
    } catch (IllegalArgumentException malformed) {
      throw new TypeConversionException(
          "'%s' is not a UUID (a user whose id is not a UUID: --subject)".formatted(text));
    }
  }

  static Instant instant(String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeParseException malformed) {
      throw new TypeConversionException(
          "'%s' is not a time such as 2026-11-24T03:00:00Z".formatted(text));
    }
  }
}
