package io.github.grpcidempotency.admin.console;

import io.github.grpcidempotency.admin.Scope;
import io.github.grpcidempotency.key.Caller;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The fields of a form, or of the query of an address.
 *
 * @param values the values, by name
 */
record Fields(Map<String, String> values) {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,6}) ?([smhd])");
  private static final Map<String, Duration> UNITS =
      Map.of(
          "s", Duration.ofSeconds(1),
          "m", Duration.ofMinutes(1),
          "h", Duration.ofHours(1),
          "d", Duration.ofDays(1));
  private static final int MAX_BODY = 16 * 1_024;

  /** Reads the fields of a query. */
  static Fields of(Optional<String> query) {
    return parse(query.orElse(""));
  }

  /** Reads the fields of a form. */
  static Fields read(InputStream body) throws IOException {
    byte[] bytes = body.readNBytes(MAX_BODY + 1);
    if (bytes.length > MAX_BODY) {
      throw new HttpError(413, "This form is too long.");
    }
    return parse(new String(bytes, StandardCharsets.UTF_8));
  }

  private static Fields parse(String encoded) {
    Map<String, String> values = new HashMap<>();
    for (String field : encoded.split("&", -1)) {
      int equals = field.indexOf('=');
      if (equals > 0
          && values.put(decoded(field.substring(0, equals)), decoded(field.substring(equals + 1)))
              != null) {
        throw new HttpError(400, "A field is given twice.");
      }
    }
    return new Fields(values);
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException malformed) {
      throw new HttpError(400, "A field is malformed.");
    }
  }

  /** Returns a field without leading and trailing white space; empty if it is missing. */
  String text(String name) {
    return values.getOrDefault(name, "").strip();
  }

  Optional<String> given(String name) {
    return Optional.of(text(name)).filter(text -> !text.isEmpty());
  }

  boolean isSet(String name) {
    return values.containsKey(name);
  }

  /** Returns the user that a field names: a UUID, or any other subject. */
  Optional<UUID> user(String name) {
    return id(name).or(() -> given(name).map(subject -> Caller.ofSubject(subject).userId()));
  }

  /** Returns the tenant and project that two fields name. */
  Scope scope() {
    try {
      return new Scope(given("tenant"), given("project"));
    } catch (IllegalArgumentException malformed) {
      throw new HttpError(400, "Nobody can have such a tenant or project.");
    }
  }

  /** Returns a field as a duration, such as {@code 90s}, {@code 15m}, {@code 2h} or {@code 1d}. */
  Optional<Duration> duration(String name) {
    return given(name).map(Fields::parsed);
  }

  private static Duration parsed(String text) {
    Matcher parts = DURATION.matcher(text);
    if (!parts.matches()) {
      throw new HttpError(400, "A duration is a number and a unit: 90s, 15m, 2h or 1d.");
    }
    return Objects.requireNonNull(UNITS.get(parts.group(2)))
        .multipliedBy(Long.parseLong(parts.group(1)));
  }

  /** Returns a field as a time in UTC, such as {@code 2026-11-24T03:00}. */
  Optional<Instant> time(String name) {
    try {
      return given(name).map(text -> LocalDateTime.parse(text).toInstant(ZoneOffset.UTC));
    } catch (DateTimeParseException malformed) {
      throw new HttpError(400, "A time has the form 2026-11-24T03:00.");
    }
  }

  /** Returns a field as a UUID, if it is one. */
  Optional<UUID> id(String name) {
    String text = text(name);
    try {
      UUID id = UUID.fromString(text);
      return Optional.of(id).filter(parsed -> parsed.toString().equalsIgnoreCase(text));
    } catch (IllegalArgumentException none) {
      return Optional.empty();
    }
  }
}
