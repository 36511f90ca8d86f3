package io.github.grpcidempotency.example.service.webhook;

import com.google.common.base.Splitter;
import com.google.protobuf.ByteString;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The parameters of an {@code application/x-www-form-urlencoded} body.
 *
 * @param values each name with its distinct values, both in the order of their characters
 */
record Form(NavigableMap<String, NavigableSet<String>> values) {

  private static final Splitter PAIRS = Splitter.on('&').omitEmptyStrings();

  /** Returns empty for a body that is not a form. */
  static Optional<Form> parse(ByteString body) {
    NavigableMap<String, NavigableSet<String>> values = new TreeMap<>();
    try {
      for (String pair : PAIRS.split(body.toStringUtf8())) {
        int equals = pair.indexOf('=');
        String name = equals < 0 ? pair : pair.substring(0, equals);
        String value = equals < 0 ? "" : pair.substring(equals + 1);
        values.computeIfAbsent(decode(name), unseen -> new TreeSet<>()).add(decode(value));
      }
    } catch (IllegalArgumentException badEscape) {
      return Optional.empty();
    }
    return Optional.of(new Form(values));
  }

  /** Returns the one value of a parameter; empty if it has none, or several. */
  Optional<String> only(String name) {
    return Optional.ofNullable(values.get(name))
        .filter(found -> found.size() == 1)
        .map(NavigableSet::first)
        .filter(value -> !value.isEmpty());
  }

  /** Returns name and value of every parameter, one after the other, with nothing between them. */
  String namesAndValues() {
    StringBuilder all = new StringBuilder();
    values.forEach((name, found) -> found.forEach(value -> all.append(name).append(value)));
    return all.toString();
  }

  private static String decode(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
