package io.github.grpcidempotency.postgres;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PGobject;

/** The values of one statement, by name; what it has no use for is dropped. Not thread-safe. */
final class Parameters {
  private final Names names;
  private final @Nullable Object[] values;

  /** No value, of a type of the database's. */
  private record Absent(String type) {}

  /** Which of a statement's values each of its question marks stands for. Immutable. */
  static final class Names {
    private final List<String> marks;
    private final int[] placeOfMark;
    private final Map<String, Integer> places = new HashMap<>();

    /** Takes the names of a statement's question marks, in their order. */
    Names(List<String> marks) {
      this.marks = List.copyOf(marks);
      List<String> distinct = marks.stream().distinct().toList();
      this.placeOfMark = marks.stream().mapToInt(distinct::indexOf).toArray();
      for (int place = 0; place < distinct.size(); place++) {
        places.put(distinct.get(place), place);
      }
    }

    /** Returns how many question marks there are. */
    int count() {
      return marks.size();
    }
  }

  /** Has no values yet. */
  Parameters(Names names) {
    this.names = names;
    this.values = new Object[names.places.size()];
  }

  /** Binds what the driver can bind by itself, text, numbers, UUIDs, bytes; or an array. */
  Parameters bind(String name, Object value) {
    put(name, value);
    return this;
  }

  /**
   * Binds a value of a type of the database's, or null. A null without a type would have the driver
   * ask for it, and then send what may return long rows in a flush of its own: one round trip more.
   */
  Parameters bind(String name, String type, Optional<?> value) {
    put(name, value.isPresent() ? value.get() : new Absent(type));
    return this;
  }

  /** Binds a value that only some statements use, and that takes time to compute. */
  Parameters bindLate(String name, Supplier<?> value) {
    put(name, value);
    return this;
  }

  private void put(String name, Object value) {
    Integer place = names.places.get(name);
    if (place != null) {
      values[place] = value;
    }
  }

  void setOn(PreparedStatement statement) throws SQLException {
    for (int i = 0; i < names.count(); i++) {
      Object value = values[names.placeOfMark[i]];
      if (value == null) {
        throw new IllegalStateException("nothing is bound as " + names.marks.get(i));
      }
      set(statement, i + 1, value instanceof Supplier<?> supplier ? supplier.get() : value);
    }
  }

  /**
   * Text is bound as text even if the driver is set to leave its type open ({@code
   * stringtype=unspecified}): the driver would ask the database what type it is, and to do so send
   * a flush in pieces, each in its own transaction.
   */
  private static void set(PreparedStatement statement, int index, Object value)
      throws SQLException {
    if (value instanceof Object[] array) {
      String type = array instanceof UUID[] ? "uuid" : "text";
      statement.setArray(index, statement.getConnection().createArrayOf(type, array));
      return;
    }
    if (value instanceof Absent absent) {
      statement.setNull(index, Types.NULL, absent.type());
      return;
    }
    statement.setObject(index, value instanceof String text ? textOf(text) : value);
  }

  private static PGobject textOf(String value) throws SQLException {
    PGobject text = new PGobject();
    text.setType("text");
    text.setValue(value);
    return text;
  }
}
