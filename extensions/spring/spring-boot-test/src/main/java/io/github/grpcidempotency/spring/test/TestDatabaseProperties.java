package io.github.grpcidempotency.spring.test;

import io.github.grpcidempotency.spring.test.TestDatabase.Login;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.EnumerablePropertySource;

/**
 * A property source with the URL and the credentials of the database, which is created at the first
 * access.
 */
final class TestDatabaseProperties
    extends EnumerablePropertySource<Map<String, Function<TestDatabase, String>>> {
  private final Supplier<TestDatabase> database;

  private TestDatabaseProperties(
      Map<String, Function<TestDatabase, String>> values, Supplier<TestDatabase> database) {
    super(IdempotencyDatabase.class.getName(), values);
    this.database = database;
  }

  /** Returns the properties of the application, of its Flyway and of the library's migration. */
  static TestDatabaseProperties all(Supplier<TestDatabase> database) {
    Map<String, Function<TestDatabase, String>> values = new LinkedHashMap<>();
    put(values, "spring.datasource.", "username", TestDatabase::application);
    put(values, "spring.flyway.", "user", TestDatabase::owner);
    put(values, "grpc.idempotency.migration.", "username", TestDatabase::owner);
    return new TestDatabaseProperties(values, database);
  }

  /** Returns the properties of the library's migration, which does not use connection details. */
  static TestDatabaseProperties ofMigration(Supplier<TestDatabase> database) {
    Map<String, Function<TestDatabase, String>> values = new LinkedHashMap<>();
    put(values, "grpc.idempotency.migration.", "username", TestDatabase::owner);
    return new TestDatabaseProperties(values, database);
  }

  private static void put(
      Map<String, Function<TestDatabase, String>> values,
      String prefix,
      String username,
      Function<TestDatabase, Login> login) {
    values.put(prefix + "url", login.andThen(Login::url));
    values.put(prefix + username, login.andThen(Login::username));
    values.put(prefix + "password", login.andThen(Login::password));
  }

  @Override
  public String[] getPropertyNames() {
    return source.keySet().toArray(String[]::new);
  }

  @Override
  public @Nullable Object getProperty(String name) {
    Function<TestDatabase, String> value = source.get(name);
    return value == null ? null : value.apply(database.get());
  }
}
