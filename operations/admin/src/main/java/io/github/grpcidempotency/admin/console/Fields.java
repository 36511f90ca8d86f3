package io.github.grpcidempotency.admin.console;

import java.io.IOException;
import java.io.InputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The fields of a form, or of the query of an address.
 *
 * @param values the values, by name
 */
record Fields(Map<String, String> values) {
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
