package io.github.grpcidempotency.postgres.internal.claim;

import static java.util.stream.Collectors.joining;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The values of several calls as arrays, one for each column. */
record BatchParameters<C>(List<C> calls, Function<C, IdempotencyKey> key, Function<C, UUID> id) {
  /** Binds what identifies the rows of the calls, and the users for whom the statement may act. */
  Parameters identify(Parameters values) {
    UUID[] users = array(call -> key.apply(call).caller().userId(), UUID[]::new);
    return values
        .bind(
            "users",
            List.of(users).stream().distinct().map(UUID::toString).collect(joining(",", "{", "}")))
        .bind("ids", array(id, UUID[]::new))
        .bind("keys", texts(call -> key.apply(call).value()))
        .bind("user_uuids", users)
        .bindLate("tenants", () -> texts(call -> key.apply(call).caller().tenant().orElse("")))
        .bindLate("projects", () -> texts(call -> key.apply(call).caller().project().orElse("")));
  }

  String[] texts(Function<C, @Nullable String> value) {
    return array(value, String[]::new);
  }

  Integer[] integers(ToIntFunction<C> value) {
    return array(value::applyAsInt, Integer[]::new);
  }

  Long[] longs(ToLongFunction<C> value) {
    return array(value::applyAsLong, Long[]::new);
  }

  byte[][] bytes(Function<C, Optional<ByteString>> value) {
    return array(
        call -> value.apply(call).map(ByteString::toByteArray).orElse(null), byte[][]::new);
  }

  private <T extends @Nullable Object> T[] array(Function<C, T> value, IntFunction<T[]> empty) {
    return calls.stream().map(value).toArray(empty);
  }

  /** Returns the result of each call, if it has one. */
  <T> List<Optional<T>> resultsById(List<T> results, Function<T, UUID> idOfResult) {
    Map<UUID, T> byId = new HashMap<>();
    results.forEach(result -> byId.put(idOfResult.apply(result), result));
    return calls.stream().map(call -> Optional.ofNullable(byId.get(id.apply(call)))).toList();
  }
}
