package io.github.grpcidempotency.console;

import java.util.List;
import java.util.stream.Stream;

/** A piece of a page. Text gets into it escaped, and in no other way. */
interface Html {
  Html NOTHING = out -> {};

  /** Writes the markup. */
  void writeTo(StringBuilder out);

  /** Returns text. */
  static Html text(String text) {
    return out -> escape(text, out);
  }

  /** Returns text that somebody else has written, whose direction of writing stays its own. */
  static Html foreign(String text) {
    return element("bdi").with(text(text));
  }

  /** Returns pieces as one. */
  static Html all(Html... pieces) {
    return all(List.of(pieces));
  }

  /** Returns pieces as one. */
  static Html all(List<Html> pieces) {
    return out -> pieces.forEach(piece -> piece.writeTo(out));
  }

  /** Begins an element. */
  static Element element(String name) {
    return new Element(name, NOTHING, NOTHING);
  }

  /** Returns a whole document. */
  static String document(Html html) {
    StringBuilder out = new StringBuilder("<!DOCTYPE html>\n");
    html.writeTo(out);
    return out.toString();
  }

  private static void escape(String text, StringBuilder out) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> out.append("&amp;");
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '"' -> out.append("&quot;");
        case '\'' -> out.append("&#39;");
        default -> out.append(Character.isISOControl(c) && c != '\n' && c != '\t' ? '\uFFFD' : c);
      }
    }
  }

  /**
   * An element.
   *
   * @param name of the tag; a constant
   * @param attributes as they stand in the tag
   * @param content what is between the tags
   */
  record Element(String name, Html attributes, Html content) implements Html {
    /** Adds an attribute, whose name is a constant. */
    Element attribute(String attribute, String value) {
      return new Element(
          name,
          out -> {
            attributes.writeTo(out);
            out.append(' ').append(attribute).append("=\"");
            escape(value, out);
            out.append('"');
          },
          content);
    }

    /** Adds an attribute that has no value, if it applies. */
    Element flag(String attribute, boolean applies) {
      return applies ? attribute(attribute, "") : this;
    }

    /** Adds the class. */
    Element as(String style) {
      return attribute("class", style);
    }

    /** Adds content. */
    Element with(Html... more) {
      return new Element(name, attributes, all(content, all(more)));
    }

    /** Adds content. */
    Element with(Stream<? extends Html> more) {
      return with(all(more.map(Html.class::cast).toList()));
    }

    /** Adds text. */
    Element with(String text) {
      return with(text(text));
    }

    @Override
    public void writeTo(StringBuilder out) {
      out.append('<').append(name);
      attributes.writeTo(out);
      out.append('>');
      if (!Elements.VOID.contains(name)) {
        content.writeTo(out);
        out.append("</").append(name).append(">");
      }
    }
  }

  /** What is known of elements. */
  final class Elements {
    private static final List<String> VOID = List.of("input", "link", "meta");

    private Elements() {}
  }
}
