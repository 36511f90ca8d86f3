package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.example.run.Keys;
import io.github.grpcidempotency.example.run.MachineShop;
import io.github.grpcidempotency.example.run.RunningServer;
import io.github.grpcidempotency.example.service.Settings;
import io.github.grpcidempotency.example.service.background.Parts;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** Starts the example server, and plays all scenes against it. */
@Command(
    name = "demo",
    description =
        "Starts the example server on a temporary PostgreSQL and calls it over a socket."
            + " Prints each step and its result, and counts rows in the database as proof. Exits"
            + " with 0 only if every expectation holds.")
public final class Demo implements Callable<Integer> {
  private static final List<Scene> SCENES =
      List.of(
          new LostAnswer(),
          new WorkBehindACreate(),
          new OneKeyOneRequest(),
          new FiftyAtOnce(),
          new KeysFromElsewhere());

  @Override
  public Integer call() throws Exception {
    try (Parts parts = Parts.closedOnShutdown()) {
      System.out.println("Starting PostgreSQL and the example server ...");
      Database database = parts.start(Database::embedded);
      database.migrate();
      Settings settings =
          Settings.of(Keys.temporary(), Keys.temporaryLogSecret(), new MachineShop());
      RunningServer server = parts.start(() -> RunningServer.start(0, 0, settings, database));
      System.out.println("listening on port " + server.port());

      Stage stage = parts.start(() -> Stage.before(server.port(), database));
      Story story = new Story(System.out);
      for (Scene scene : SCENES) {
        story.chapter(scene.title());
        scene.play(stage, story);
      }
      return story.end() ? 0 : 1;
    }
  }
}
