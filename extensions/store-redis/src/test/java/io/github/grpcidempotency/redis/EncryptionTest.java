package io.github.grpcidempotency.redis;

import static io.github.grpcidempotency.test.Program.OPENSSL;
import static io.github.grpcidempotency.test.Program.REDIS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.test.NeedsProgram;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Encrypted connections and users: what works, and what start-up says if it does not. */
@NeedsProgram({OPENSSL, REDIS})
@SuppressWarnings("NullAway.Init") // before the first test
class EncryptionTest {
  @TempDir static Path files;

  private static final int TLS_PORT = RedisProcess.freePort();

  private static RedisProcess redis;

  @BeforeAll
  static void start() throws Exception {
    makeCertificate();
    redis =
        RedisProcess.durable(
            "--tls-port",
            Integer.toString(TLS_PORT),
            "--tls-cert-file",
            certificate(),
            "--tls-key-file",
            key(),
            "--tls-ca-cert-file",
            certificate(),
            "--tls-auth-clients",
            "no",
            "--user",
            "store",
            "on",
            ">secret",
            "~*",
            "&*",
            "+@all");
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  @Test
  void aConnectionToAServerWithAKnownCertificateIsEncrypted() {
    try (RedisIdempotencyStore store =
        store(encrypted("secret"))
            .clientOptions(
                options ->
                    options.sslOptions(
                        SslOptions.builder().trustManager(Path.of(certificate()).toFile()).build()))
            .build()) {
      store.verify(List.of(), Optional.empty());

      assertThat(Calls.win(store, Calls.request()).complete(Calls.ANSWER)).isEqualTo(Settled.DONE);
    }
  }

  @Test
  void anUnknownCertificateIsReportedAtStartUp() {
    assertThat(problem(encrypted("secret")))
        .contains("could not open an encrypted connection", "certificate");
  }

  @Test
  void aMixOfPlainAndEncryptedConnectionsFails() {
    RedisURI plain = encrypted("secret");
    plain.setPort(redis.port());

    assertCannotConnect(plain);
    assertCannotConnect(RedisURI.create("127.0.0.1", TLS_PORT));
  }

  private static void assertCannotConnect(RedisURI uri) {
    try (RedisIdempotencyStore store = store(uri).timeout(Duration.ofMillis(500)).build()) {
      assertThat(
              catchThrowableOfType(
                  StoreException.class, () -> store.verify(List.of(), Optional.empty())))
          .hasStackTraceContaining("could not connect to Redis")
          .hasStackTraceContaining("127.0.0.1/<unresolved>:" + uri.getPort());
    }
  }

  @Test
  void aWrongPasswordIsReportedAtStartUp() {
    RedisURI wrong =
        RedisURI.builder(RedisURI.create("127.0.0.1", redis.port()))
            .withAuthentication("store", "guessed")
            .build();

    assertThat(problem(wrong)).contains("WRONGPASS", "check the user and the password");
  }

  private static String problem(RedisURI uri) {
    try (RedisIdempotencyStore store = store(uri).build()) {
      SetupException refused =
          catchThrowableOfType(
              SetupException.class, () -> store.verify(List.of(), Optional.empty()));
      assertThat(refused.problems()).hasSize(1);
      return refused.problems().get(0);
    }
  }

  private static RedisIdempotencyStore.Builder store(RedisURI uri) {
    return RedisIdempotencyStore.builder(uri).timeout(Duration.ofSeconds(5));
  }

  private static RedisURI encrypted(String password) {
    return RedisURI.builder()
        .withHost("127.0.0.1")
        .withPort(TLS_PORT)
        .withSsl(true)
        .withAuthentication("store", password)
        .build();
  }

  private static String certificate() {
    return files.resolve("certificate.pem").toString();
  }

  private static String key() {
    return files.resolve("key.pem").toString();
  }

  private static void makeCertificate() throws IOException, InterruptedException {
    Process made =
        OPENSSL
            .process(
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=redis",
                "-addext",
                "subjectAltName=IP:127.0.0.1",
                "-keyout",
                key(),
                "-out",
                certificate())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    if (!made.waitFor(1, TimeUnit.MINUTES) || made.exitValue() != 0) {
      throw new IllegalStateException("openssl makes no certificate");
    }
  }
}
