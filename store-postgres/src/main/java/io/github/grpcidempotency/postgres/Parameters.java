package io.github.grpcidempotency.postgres;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Values by name; a statement uses those it needs. Not thread-safe. */
final class Parameters {
  private final Map<String, @Nullable Object> values = new HashMap<>();

  /** Binds what the driver can bind by itself: text, numbers, UUIDs, bytes, null. */
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
      statement.setObject(i + 1, value instanceof Supplier<?> supplier ? supplier.get() : value);
    }
  }
}
