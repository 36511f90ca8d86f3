package io.github.grpcidempotency.example.service.tenant;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Objects;
import org.jdbi.v3.core.mapper.RowMapper;

/**
 * Creates messages from rows: each column becomes the field with its name. A null leaves the field
 * unset.
 */
final class MessageRow {
  private MessageRow() {}

  /** Returns a mapper for statements in which every column has the name of a field. */
  static <M extends Message> RowMapper<M> of(M prototype) {
    return (row, context) -> {
      Message.Builder message = prototype.newBuilderForType();
      ResultSetMetaData columns = row.getMetaData();
      for (int column = 1; column <= columns.getColumnCount(); column++) {
        String name = columns.getColumnLabel(column);
        FieldDescriptor field = prototype.getDescriptorForType().findFieldByName(name);
        if (row.getObject(column) != null) {
          message.setField(Objects.requireNonNull(field, name), value(row, column, field));
        }
      }
      @SuppressWarnings("unchecked") // a builder creates messages of its own type
      M made = (M) message.build();
      return made;
    };
  }

  private static Object value(ResultSet row, int column, FieldDescriptor field)
      throws SQLException {
    return switch (field.getJavaType()) {
      case STRING -> row.getString(column);
      case INT -> row.getInt(column);
      case MESSAGE -> timestamp(row.getObject(column, OffsetDateTime.class).toInstant());
      default -> throw new IllegalArgumentException("no column is read into " + field);
    };
  }

  private static Timestamp timestamp(Instant instant) {
    return Timestamp.newBuilder()
        .setSeconds(instant.getEpochSecond())
        .setNanos(instant.getNano())
        .build();
  }
}
