package io.github.grpcidempotency.postgres.internal.sql;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.RecordedOutcome;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PGobject;

/**
 * The values of one statement, by name. Values that the statement does not use are ignored. Not
 * thread-safe.
 */
public final class Parameters {
  private static final Map<Class<?>, String> ARRAY_TYPES =
      Map.of(
          String[].class, "text",
          UUID[].class, "uuid",
          Integer[].class, "int4",
          Long[].class, "int8",
          byte[][].class, "bytea");

  private final List<String> names;
  private final Map<String, Object> values = new HashMap<>();

  /** A null value of a database type. */
  private record Absent(String type) {}

  /**
   * Creates the parameters of a statement.
   *
   * @param names the name of the value that each question mark stands for
   */
  public Parameters(List<String> names) {
    this.names = names;
  }

  /** Binds a value whose type the driver recognises: text, number, UUID, bytes or array. */
  public Parameters bind(String name, Object value) {
    values.put(name, value);
    return this;
  }

  /**
   * Binds a value of a database type, or null. For a null without a type, the driver would query
   * the database for the type, and would then send a statement that may return long rows in a flush
   * of its own: one more round trip.
   */
  public Parameters bind(String name, String type, Optional<?> value) {
    values.put(name, value.isPresent() ? value.get() : new Absent(type));
    return this;
  }

  /** Binds a value that only some statements use and that is expensive to compute. */
  public Parameters bindLate(String name, Supplier<?> value) {
    values.put(name, value);
    return this;
  }

  public Parameters bindCaller(Caller caller) {
    return bindCaller(Optional.of(caller));
  }

  public Parameters bindKey(IdempotencyKey key) {
    return bindCaller(key.caller()).bind("key", key.value()).bindLate("lock", () -> LockId.of(key));
  }

  public Parameters bindCaller(Optional<Caller> caller) {
    return bind("user", caller.map(Caller::userId).map(UUID::toString).orElse(""))
        .bind("tenant", caller.flatMap(Caller::tenant).orElse(""))
        .bind("project", caller.flatMap(Caller::project).orElse(""));
  }

  public Parameters bindOperation(ClaimRequest request, UUID id) {
    return bindKey(request.key())
        .bind("id", id)
        .bind("procedure", request.procedure().name())
        .bind("hash", request.fingerprint().hash().toByteArray())
        .bind("hash_version", request.fingerprint().version())
        .bind("retention_millis", request.retention().toMillis())
        .bind("trace", "bytea", request.trace().map(ByteString::toByteArray));
  }

  /**
   * Binds the operations of several calls as arrays, one for each column, and the users for whom
   * the statement may act.
   */
  public Parameters bindOperations(List<ClaimRequest> requests, List<UUID> ids) {
    return bindKeys(requests.stream().map(ClaimRequest::key).toList())
        .bindEach("ids", ids, id -> id, UUID[]::new)
        .bindEach("procedures", requests, call -> call.procedure().name(), String[]::new)
        .bindEachBytes("hashes", requests, call -> Optional.of(call.fingerprint().hash()))
        .bindEach("hash_versions", requests, call -> call.fingerprint().version(), Integer[]::new)
        .bindEach("retentions", requests, call -> call.retention().toMillis(), Long[]::new)
        .bindEachBytes("traces", requests, ClaimRequest::trace);
  }

  /** Binds keys as arrays, one for each column. */
  public Parameters bindKeys(List<IdempotencyKey> keys) {
    List<Caller> callers = keys.stream().map(IdempotencyKey::caller).toList();
    return bindEach("keys", keys, IdempotencyKey::value, String[]::new)
        .bindEach("locks", keys, LockId::of, Long[]::new)
        .bindLate("users", () -> usersOf(callers))
        .bindEach("user_uuids", callers, Caller::userId, UUID[]::new)
        .bindEach("tenants", callers, caller -> caller.tenant().orElse(""), String[]::new)
        .bindEach("projects", callers, caller -> caller.project().orElse(""), String[]::new);
  }

  private static String usersOf(List<Caller> callers) {
    return callers.stream()
        .map(caller -> caller.userId().toString())
        .distinct()
        .collect(joining(",", "{", "}"));
  }

  /** Binds an array with one value for each of several calls. */
  public <C, V extends @Nullable Object> Parameters bindEach(
      String name, List<C> calls, Function<C, V> value, IntFunction<V[]> array) {
    return bindLate(name, () -> calls.stream().map(value).toArray(array));
  }

  public <C> Parameters bindEachBytes(
      String name, List<C> calls, Function<C, Optional<ByteString>> value) {
    return bindEach(
        name,
        calls,
        call -> value.apply(call).map(ByteString::toByteArray).orElse(null),
        byte[][]::new);
  }

  public Parameters bindOutcome(RecordedOutcome outcome) {
    return bind("response", "bytea", response(outcome).map(ByteString::toByteArray))
        .bind("status", "bytea", error(outcome).map(ByteString::toByteArray))
        .bind("resource_id", "text", outcome.resourceId().map(ResourceId::toString));
  }

  public static Optional<ByteString> response(RecordedOutcome outcome) {
    return outcome instanceof RecordedOutcome.Response response
        ? Optional.of(response.bytes())
        : Optional.empty();
  }

  public static Optional<ByteString> error(RecordedOutcome outcome) {
    return outcome instanceof RecordedOutcome.Failure failure
        ? Optional.of(failure.bytes())
        : Optional.empty();
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
    for (int i = 0; i < names.size(); i++) {
      Object value = values.get(names.get(i));
      if (value == null) {
        throw new IllegalStateException("nothing is bound as " + names.get(i));
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
      String type = requireNonNull(ARRAY_TYPES.get(array.getClass()));
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
