package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedures;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Settings of the library in a Spring Boot application. Unknown names and invalid values prevent
 * the start.
 *
 * @param enabled Whether to make annotated methods idempotent. If false, the library's schema is
 *     not migrated either.
 * @param schema Schema of the library's table.
 * @param lease Time for which the call of a crashed server blocks its key. At least 100 ms.
 * @param keyHashSecret Secret of at least 16 bytes for the hash by which log lines identify keys.
 *     Without a secret, log lines contain operation ids only.
 * @param interceptorOrder Order of the interceptor among the server's. It must run inside Spring's
 *     observation, exception mapping and authentication.
 * @param hostTransactions Whether transactional handlers run in Spring's transactions.
 * @param callLimit Maximum running time of a handler, if its call has no longer deadline.
 * @param migration The migration of the library's schema.
 * @param sweeper The deletion of expired records.
 * @param services The library's own gRPC services.
 */
@ConfigurationProperties(prefix = IdempotencyProperties.PREFIX, ignoreUnknownFields = false)
record IdempotencyProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue("idempotency") String schema,
    @DefaultValue("30s") Duration lease,
    @Nullable String keyHashSecret,
    @DefaultValue("100") int interceptorOrder,
    @DefaultValue("true") boolean hostTransactions,
    @DefaultValue("1h") Duration callLimit,
    @DefaultValue Migration migration,
    @DefaultValue Sweeper sweeper,
    @DefaultValue Services services) {
  static final String PREFIX = "grpc.idempotency";

  /**
   * Checks every value here, because the name of the property is still known here.
   *
   * @throws IllegalArgumentException naming the property
   */
  IdempotencyProperties {
    check("schema", () -> store().schema(schema));
    check("lease", () -> store().lease(lease));
    check("call-limit", () -> interceptor().callLimit(callLimit));
    if (keyHashSecret != null) {
      byte[] secret = bytes(keyHashSecret);
      check("key-hash-secret", () -> interceptor().keyHashSecret(secret));
    }
  }

  /** Checks a value with one of the library's own builders. */
  private static void check(String property, Supplier<?> attempt) {
    try {
      Object unused = attempt.get();
    } catch (IllegalArgumentException senseless) {
      throw new IllegalArgumentException(
          "%s.%s: %s".formatted(PREFIX, property, senseless.getMessage()), senseless);
    }
  }

  private static PostgresIdempotencyStore.Builder store() {
    return PostgresIdempotencyStore.builder(new DriverManagerDataSource());
  }

  private static IdempotencyInterceptor.Builder interceptor() {
    return IdempotencyInterceptor.builder(Procedures.of(), Optional::empty);
  }

  Optional<byte[]> keyHash() {
    return Optional.ofNullable(keyHashSecret).map(IdempotencyProperties::bytes);
  }

  private static byte[] bytes(String secret) {
    return secret.getBytes(StandardCharsets.UTF_8);
  }

  /** Omits the secret. */
  @Override
  public String toString() {
    return "IdempotencyProperties[schema=" + schema + "]";
  }

  /**
   * The migration of the library's schema.
   *
   * @param url JDBC URL for the migration. By default, the data source's URL.
   * @param username Role that owns, or will own, the library's table. Not the application's role.
   *     If it is set, the library's schema is migrated at start-up, before the application's own
   *     migrations.
   * @param password Password of the role that migrates.
   */
  record Migration(@Nullable String url, @Nullable String username, @Nullable String password) {
    /** Treats an empty name, such as that of an unset variable, as no name. */
    Migration {
      username = username == null || username.isBlank() ? null : username;
    }

    /** Omits the password. */
    @Override
    public String toString() {
      return "Migration[username=" + username + "]";
    }
  }

  /**
   * The deletion of expired records.
   *
   * @param enabled Whether this server deletes expired records.
   * @param interval Pause between two sweeps.
   */
  record Sweeper(@DefaultValue("true") boolean enabled, @DefaultValue("1h") Duration interval) {
    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException naming the property
     */
    Sweeper {
      if (interval.isZero() || interval.isNegative()) {
        throw new IllegalArgumentException(
            PREFIX + ".sweeper.interval: the sweep interval must be positive, not " + interval);
      }
    }
  }

  /**
   * The library's own gRPC services.
   *
   * @param recovery Whether to serve idempotency.v1.Recovery.
   * @param operations Whether to serve google.longrunning.Operations. It needs the module
   *     grpc-idempotency-long-running-operations. The migration then also creates its index.
   */
  record Services(
      @DefaultValue("false") boolean recovery, @DefaultValue("false") boolean operations) {}
}
