package io.github.grpcidempotency.benchmarks.capacity;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A page whose tables stand between {@code <!-- capacity: name -->} and {@code <!-- end -->}. */
final class ScalePage {
  private static final Pattern PLACE =
      Pattern.compile("(?s)<!-- capacity: ([a-z ]+) -->\n\n.*?<!-- end -->");

  private ScalePage() {}

  /**
   * Returns the page with other tables.
   *
   * @throws IllegalArgumentException if it asks for one that there is not, or leaves one out
   */
  static String with(Map<String, String> tables, String page) {
    tables.keySet().stream()
        .filter(name -> !page.contains(opening(name)))
        .findFirst()
        .ifPresent(
            name -> {
              throw new IllegalArgumentException("the page has no place for " + name);
            });
    return PLACE
        .matcher(page)
        .replaceAll(place -> Matcher.quoteReplacement(filled(tables, place.group(1))));
  }

  private static String filled(Map<String, String> tables, String name) {
    String table = tables.get(name);
    if (table == null) {
      throw new IllegalArgumentException("there is no table " + name);
    }
    return opening(name) + "\n\n" + table + "\n<!-- end -->";
  }

  private static String opening(String name) {
    return "<!-- capacity: " + name + " -->";
  }
}
