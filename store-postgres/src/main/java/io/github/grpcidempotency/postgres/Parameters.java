package io.github.grpcidempotency.postgres;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PGobject;

/** Values by name; a statement uses those it needs. Not thread-safe. */
final class Parameters {
  private final Map<String, @Nullable Object> values = new HashMap<>();

  /** Binds what the driver can bind by itself, text, numbers, UUIDs, bytes, null; or an array. */
  Parameters bind(String name, @Nullable Object value) {
    values.put(name, value);
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
      if (!values.containsKey(name)) {
        throw new IllegalStateException("nothing is bound as " + name);
      }
      Object value = values.get(name);
      set(statement, i + 1, value instanceof Supplier<?> supplier ? supplier.get() : value);
    }
  }

  /**
   * Text is bound as text even if the driver is set to leave its type open ({@code
   * stringtype=unspecified}): the driver would ask the database what type it is, and to do so send
   * a flush in pieces, each in its own transaction.
   */
  private static void set(PreparedStatement statement, int index, @Nullable Object value)
      throws SQLException {
    if (value instanceof Object[] array) {
      String type = array instanceof UUID[] ? "uuid" : "text";
      statement.setArray(index, statement.getConnection().createArrayOf(type, array));
      return;
    }
    statement.setObject(index, value instanceof String text ? asText(text) : value);
  }

  private static PGobject asText(String value) throws SQLException {
    PGobject text = new PGobject();
    text.setType("text");
    text.setValue(value);
    return text;
  }
}
