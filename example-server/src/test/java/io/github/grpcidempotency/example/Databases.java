package io.github.grpcidempotency.example;

import io.github.grpcidempotency.example.run.Database;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** Databases of one embedded PostgreSQL, which ends with the JVM. */
public final class Databases {
  private static final Database MIGRATED = migrated();
  private static final AtomicInteger COPIES = new AtomicInteger();

  private Databases() {}

  /** Returns a migrated database that nobody else uses. */
  public static Database copy() {
    String name = "copy_" + COPIES.incrementAndGet();
    try (Handle superuser = Jdbi.open(url("postgres"))) {
      superuser.execute("CREATE DATABASE %s TEMPLATE example".formatted(name));
    }
    return Database.at(url(name));
  }

  private static String url(String database) {
    return MIGRATED.url().replace("/example?", "/" + database + "?");
  }

  private static Database migrated() {
    Database database = Database.embedded();
    Runtime.getRuntime().addShutdownHook(new Thread(database::close));
    database.migrate();
    return database;
  }
}
