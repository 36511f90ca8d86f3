package io.github.grpcidempotency.cli;

/** The width of a text on a terminal. */
final class TextWidth {
  private static final String ELLIPSIS = "…";

  private TextWidth() {}

  /**
   * Returns a text on one line, with its control characters escaped, because names from clients and
   * servers must not control an operator's terminal.
   */
  static String printable(String text) {
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

  /** Returns the number of columns. */
  static int of(String text) {
    return text.codePoints().map(TextWidth::of).sum();
  }

  private static int of(int c) {
    int type = Character.getType(c);
    if (type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK) {
      return 0;
    }
    return isWide(c) ? 2 : 1;
  }

  /** Returns whether a character is an East Asian character or an emoji, by its block. */
  private static boolean isWide(int c) {
    return (c >= 0x1100 && c <= 0x115f)
        || (c >= 0x2e80 && c <= 0xa4cf)
        || (c >= 0xac00 && c <= 0xd7a3)
        || (c >= 0xf900 && c <= 0xfaff)
        || (c >= 0xfe30 && c <= 0xfe6f)
        || (c >= 0xff00 && c <= 0xff60)
        || (c >= 0xffe0 && c <= 0xffe6)
        || (c >= 0x1f300 && c <= 0x1faff)
        || (c >= 0x20000 && c <= 0x3fffd);
  }

  /** Returns a text with exactly this number of columns: padded with spaces, or cut. */
  static String fit(String text, int columns) {
    int width = of(text);
    return width <= columns ? text + " ".repeat(columns - width) : cut(text, columns);
  }

  /** Cuts off the start, because procedures and servers differ at the end. */
  private static String cut(String text, int columns) {
    int[] characters = text.codePoints().toArray();
    StringBuilder tail = new StringBuilder();
    int left = columns - 1;
    int from = characters.length;
    while (from > 0 && of(characters[from - 1]) <= left) {
      from--;
      left -= of(characters[from]);
    }
    for (int i = from; i < characters.length; i++) {
      tail.appendCodePoint(characters[i]);
    }
    return ELLIPSIS + tail + " ".repeat(left);
  }
}
