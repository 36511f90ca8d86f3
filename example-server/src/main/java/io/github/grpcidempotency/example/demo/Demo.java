package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.example.service.background.Parts;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Starts two servers on one database, and plays all scenes against them. */
@Command(
    name = "demo",
    description =
        "Starts a temporary PostgreSQL and two servers, each in a process of its own, and calls"
            + " them over sockets. Kills a server in the middle of a handler, twice. Prints each"
            + " call, its answer and the rows in the database. Exits with 0 only if every"
            + " guarantee holds.")
public final class Demo implements Callable<Integer> {
  private static final List<Scene> SCENES =
      List.of(
          ServerDies.RESERVED,
          ServerDies.TRANSACTIONAL,
          new TwoUsers(),
          new ReusedKey(),
          new WorkBehindACreate(),
          new FiftyAtOnce());

  /** For a test, which reads the rows after the demo. */
  @Option(names = "--jdbc-url", hidden = true)
  private String jdbcUrl = "";

  @Override
  public Integer call() throws Exception {
    try (Parts parts = Parts.closedOnShutdown()) {
      Story story = new Story(System.out);
      Database database =
          Database.at(
              jdbcUrl.isEmpty()
                  ? story.await(
                      "PostgreSQL starts",
                      () -> parts.start(() -> Child.start(PostgresProcess.class)).greeting())
                  : jdbcUrl);
      story.note(database.url());
      database.migrate();
      Stage stage = parts.start(() -> new Stage(database));
      story.await("two servers start", () -> stage.a.await().pid() + stage.b.await().pid());
      for (Scene scene : SCENES) {
        story.play(scene, stage);
      }
      return story.end() ? 0 : 1;
    }
  }
}
