package io.github.grpcidempotency.internal.event;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Writes one line for every decision, with the key-value pairs {@code decision}, {@code procedure},
 * {@code entry} and {@code policy}, and, if they are known, {@code shard}, {@code reason}, {@code
 * cause}, {@code source}, {@code operation}, {@code key_hash}, {@code user_hash} and {@code
 * tenant_hash}. A line never contains a key, a user, a tenant, a request or a response.
 *
 * <p>Ordinary decisions are written at debug level. Other lines are limited to one in ten seconds
 * for each procedure, shard, decision and reason. Thread-safe; never throws.
 */
public final class DecisionLog {
  /** The name of the logger. */
  public static final String LOGGER = "io.github.grpcidempotency.decision";

  private static final int HASH_DIGITS = 16;
  private static final int MIN_SECRET = 16;

  private final RateLimitedLog log = RateLimitedLog.of(LoggerFactory.getLogger(LOGGER));
  private final Optional<HashFunction> hashes;

  public DecisionLog(Optional<byte[]> keyHashSecret) {
    this.hashes = keyHashSecret.map(Hashing::hmacSha256);
  }

  public static byte[] checkSecret(byte[] secret) {
    if (secret.length < MIN_SECRET) {
      throw new IllegalArgumentException(
          "the secret for key hashes must have at least " + MIN_SECRET + " bytes");
    }
    return secret.clone();
  }

  void write(
      DecisionLine line,
      CallInfo call,
      Optional<IdempotencyKey> key,
      Optional<String> source,
      @Nullable Throwable why) {
    if (log.isEnabled(line.level())) {
      append(line, call, key, source, why);
    }
  }

  private void append(
      DecisionLine line,
      CallInfo call,
      Optional<IdempotencyKey> key,
      Optional<String> source,
      @Nullable Throwable why) {
    String procedure = call.procedure().name();
    log.write(
        line.level(),
        String.join(
            " ", procedure, call.shard().orElse(""), line.decision(), line.reason().orElse("")),
        why,
        procedure + ": " + line.words(),
        () -> {
          Map<String, Object> pairs = new LinkedHashMap<>();
          pairs.put("decision", line.decision());
          pairs.put("procedure", procedure);
          pairs.put("entry", call.procedure().entry());
          pairs.put("policy", call.procedure().keyPolicy());
          call.shard().ifPresent(shard -> pairs.put("shard", shard));
          line.reason().ifPresent(reason -> pairs.put("reason", reason));
          line.cause().ifPresent(cause -> pairs.put("cause", cause));
          line.source().or(() -> source).ifPresent(place -> pairs.put("source", place));
          line.operationId().ifPresent(id -> pairs.put("operation", id));
          hashes.ifPresent(
              function -> {
                key.ifPresent(known -> putHashes(pairs, function, known));
                call.tenant().ifPresent(tenant -> pairs.put("tenant_hash", hash(function, tenant)));
              });
          return pairs;
        });
  }

  private static void putHashes(
      Map<String, Object> pairs, HashFunction function, IdempotencyKey key) {
    pairs.put("key_hash", hash(function, key.qualified()));
    pairs.put("user_hash", hash(function, key.caller().userId().toString()));
  }

  private static String hash(HashFunction function, String text) {
    return function.hashString(text, StandardCharsets.UTF_8).toString().substring(0, HASH_DIGITS);
  }
}
