package io.github.grpcidempotency.postgres;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PGobject;

/** Values by name; a statement uses those it needs. Not thread-safe. */
final class Parameters {
  private final Map<String, Object> values = new HashMap<>();

  /** No value, of a type of the database's. */
  private record Absent(String type) {}

  /** Binds what the driver can bind by itself, text, numbers, UUIDs, bytes; or an array. */
  Parameters bind(String name, Object value) {
    values.put(name, value);
    return this;
  }

  /**
   * Binds a value of a type of the database's, or null. A null without a type would have the driver
   * ask for it, and then send what may return long rows in a flush of its own: one round trip more.
   */
  Parameters bind(String name, String type, Optional<?> value) {
    values.put(name, value.isPresent() ? value.get() : new Absent(type));
    return this;
  }

  /** Binds a value that only some statements use, and that takes time to compute. */
  Parameters bindLate(String name, Supplier<?> value) {
    values.put(name, value);
    return this;
  }

  void setOn(PreparedStatement statement, List<String> names) throws SQLException {
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      Object value = values.get(name);
      if (value == null) {
        throw new IllegalStateException("nothing is bound as " + name);
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
      statement.setObject(index, of(absent.type(), null));
      return;
    }
    statement.setObject(index, value instanceof String text ? of("text", text) : value);
  }

  private static PGobject of(String type, @Nullable String value) throws SQLException {
    PGobject typed = new PGobject();
    typed.setType(type);
    typed.setValue(value);
    return typed;
  }
}
