package io.github.grpcidempotency.postgres;

import com.google.common.reflect.ClassPath;
import com.google.common.reflect.ClassPath.ClassInfo;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A process that is to be started without the dependencies that a host may leave out. */
final class BareProcess {
  /** It starts while much else does. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private BareProcess() {}

  /** Migrates and serves a database, with its JDBC URLs as the owner and as the application. */
  @SuppressWarnings("SystemOut") // the test that started this process reads it
  public static void main(String[] arguments) throws Exception {
    System.out.println("unlinked " + unlinked());
    try (HikariDataSource owner = PostgresThingServer.pool(arguments[0], PATIENCE);
        HikariDataSource app = PostgresThingServer.pool(arguments[1], PATIENCE)) {
      try {
        IdempotencySchema.migrate(owner);
      } catch (IllegalStateException refused) {
        System.out.println("refused " + refused.getMessage());
      }
      MigrationFiles.run(owner);
      TestDatabase.runHostMigration(owner);
      for (Execution execution : Execution.values()) {
        System.out.println(execution + " " + callTwice(app, execution));
      }
      try (PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(app).build();
          ExpirySweeper sweeper = ExpirySweeper.builder(store).build()) {
        System.out.println("swept " + sweeper.sweep());
      }
    }
  }

  /** Returns the library's classes that cannot be linked, or whose members cannot be listed. */
  private static List<String> unlinked() throws ClassNotFoundException, IOException {
    List<String> unlinked = new ArrayList<>();
    List<String> library =
        Stream.of(IdempotencyInterceptor.class, PostgresIdempotencyStore.class)
            .map(type -> type.getProtectionDomain().getCodeSource().getLocation().toString())
            .toList();
    for (ClassInfo type : ClassPath.from(BareProcess.class.getClassLoader()).getAllClasses()) {
      String location = type.url().toString();
      if (library.stream().anyMatch(location::contains)) {
        try {
          link(Class.forName(type.getName()));
        } catch (LinkageError missing) {
          unlinked.add(type.getName() + ": " + missing.getMessage());
        }
      }
    }
    return unlinked;
  }

  @SuppressWarnings("ReturnValueIgnored") // they are looked at by frameworks, not here
  private static void link(Class<?> type) {
    type.getDeclaredFields();
    type.getDeclaredConstructors();
    type.getDeclaredMethods();
  }

  private static String callTwice(HikariDataSource pool, Execution execution) {
    try (ThingServer server = PostgresThingServer.on(pool).execution(execution).start();
        ThingClient client = ThingClient.to(server.port())) {
      Reply first = client.createThing(Things.named("a thing"));
      Reply second = client.createThing(Things.named("a thing"));
      boolean same = first.thing().equals(second.thing());
      return "same=%s replays=%s,%s runs=%d"
          .formatted(same, first.isReplay(), second.isReplay(), server.runs());
    }
  }
}
