package io.github.grpcidempotency.postgres.internal.sql;

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

/**
 * The values of one statement, by name. Values that the statement does not use are ignored. Not
 * thread-safe.
 */
public final class Parameters {
  private final Names names;
  private final @Nullable Object[] values;

  /** A null value of a database type. */
  private record Absent(String type) {}

  /** The name of the value that each question mark of a statement stands for. Immutable. */
  public static final class Names {
    private final List<String> marks;
    private final int[] placeOfMark;
    private final Map<String, Integer> places = new HashMap<>();

    /** Takes the names of a statement's question marks, in order. */
    Names(List<String> marks) {
      this.marks = List.copyOf(marks);
      List<String> distinct = marks.stream().distinct().toList();
      this.placeOfMark = marks.stream().mapToInt(distinct::indexOf).toArray();
      for (int place = 0; place < distinct.size(); place++) {
        places.put(distinct.get(place), place);
      }
    }

    public int count() {
      return marks.size();
    }
  }

  public Parameters(Names names) {
    this.names = names;
    this.values = new Object[names.places.size()];
  }

  /** Binds a value whose type the driver recognises: text, number, UUID, bytes or array. */
  public Parameters bind(String name, Object value) {
    put(name, value);
    return this;
  }

  /**
   * Binds a value of a database type, or null. For a null without a type, the driver would query
   * the database for the type, and would then send a statement that may return long rows in a flush
   * of its own: one more round trip.
   */
  public Parameters bind(String name, String type, Optional<?> value) {
    put(name, value.isPresent() ? value.get() : new Absent(type));
    return this;
  }

  /** Binds a value that only some statements use and that is expensive to compute. */
  public Parameters bindLate(String name, Supplier<?> value) {
    put(name, value);
    return this;
  }

  private void put(String name, Object value) {
    Integer place = names.places.get(name);
    if (place != null) {
      values[place] = value;
    }
  }

  public void setOn(PreparedStatement statement) throws SQLException {
    setOn(statement, 0);
  }

  /**
   * Sets the values of a statement that is one of several in its text.
   *
   * @param offset how many question marks precede the statement
   */
  void setOn(PreparedStatement statement, int offset) throws SQLException {
    for (int i = 0; i < names.count(); i++) {
      Object value = values[names.placeOfMark[i]];
      if (value == null) {
        throw new IllegalStateException("nothing is bound as " + names.marks.get(i));
      }
      set(
          statement,
          offset + i + 1,
          value instanceof Supplier<?> supplier ? supplier.get() : value);
    }
  }

  /**
   * Binds text as text even if the driver leaves the type open ({@code stringtype=unspecified}).
   * The driver would otherwise query the database for the type, and would split the flush, so that
   * each part had a transaction of its own.
   */
  private static void set(PreparedStatement statement, int index, Object value)
      throws SQLException {
    if (value instanceof Object[] array) {
      statement.setArray(index, statement.getConnection().createArrayOf(typeOf(array), array));
      return;
    }
    if (value instanceof Absent absent) {
      statement.setNull(index, Types.NULL, absent.type());
      return;
    }
    statement.setObject(index, value instanceof String text ? textOf(text) : value);
  }

  private static String typeOf(Object[] array) {
    if (array instanceof UUID[]) {
      return "uuid";
    }
    if (array instanceof Integer[]) {
      return "int4";
    }
    if (array instanceof Long[]) {
      return "int8";
    }
    return array instanceof byte[][] ? "bytea" : "text";
  }

  private static PGobject textOf(String value) throws SQLException {
    PGobject text = new PGobject();
    text.setType("text");
    text.setValue(value);
    return text;
  }
}
