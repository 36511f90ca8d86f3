package io.github.grpcidempotency.cli;

/** Makes texts safe for a terminal. */
final class Printable {
  private Printable() {}

  /**
   * Returns a text on one line, with its control characters escaped, because names from clients and
   * servers must not control an operator's terminal.
   */
  static String text(String text) {
    StringBuilder line = new StringBuilder();
    text.codePoints()
        .forEach(
            c -> {
              if (Character.isISOControl(c)
                  || Character.getType(c) == Character.FORMAT
                  || Character.getType(c) == Character.SURROGATE
                  || c == 0x2028
                  || c == 0x2029) {
                line.append("\\u%04x".formatted(c));
              } else {
                line.appendCodePoint(c);
              }
            });
    return line.toString();
  }
}
