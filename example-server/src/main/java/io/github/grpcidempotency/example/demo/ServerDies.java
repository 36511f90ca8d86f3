package io.github.grpcidempotency.example.demo;

import java.util.List;
import java.util.UUID;
import java.util.function.BiFunction;

/** Server A is killed in the middle of a handler, and a retry goes to server B. */
record ServerDies(
    String title,
    String guarantee,
    String call,
    BiFunction<DemoClient, String, Answer> create,
    String effect,
    String pause,
    BiFunction<Stage, UUID, List<Row>> rows)
    implements Scene {
  /** No rollback undoes the purchase. The key has a lease. */
  static final Scene RESERVED =
      new ServerDies(
          "RESERVED: the server dies in the handler",
          "RESERVED: after the lease, a retry runs the handler",
          "CreateCluster \"apollo\"",
          (client, project) -> client.createCluster(project, "apollo"),
          "the handler has bought a machine",
          "the lease of the dead server ends",
          (stage, key) ->
              List.of(
                  stage.row(1, "cluster", "tenant.clusters WHERE name = 'apollo'"),
                  stage.row(1, "machine bought", "cloud.sales"),
                  stage.records(1, key)));

  /** The handler writes in the transaction of its claim. */
  static final Scene TRANSACTIONAL =
      new ServerDies(
          "TRANSACTIONAL: the server dies in the handler",
          "TRANSACTIONAL: effect and record are one commit",
          "CreateNamespace \"crew\"",
          (client, project) -> client.createNamespace(project, "crew"),
          "the handler has inserted the namespace",
          "server B runs the handler",
          (stage, key) ->
              List.of(
                  stage.row(1, "namespace", "tenant.namespaces WHERE name = 'crew'"),
                  stage.row(1, "outbox entry", "authz.outbox WHERE resource_name = 'crew'"),
                  stage.records(1, key)));

  @Override
  public void play(Stage stage, Story story) {
    UUID key = DemoClient.newKey();
    String project = stage.b.client(stage.ada).newProject("moon");
    DemoClient ada = stage.b.client(stage.ada).keyed(key);

    story.sent(stage.a, call + ", key " + Answer.brief(key));
    DemoClient first = stage.a.client(stage.ada).keyed(key);
    Answer cut =
        stage.killDuring(
            stage.a,
            () -> create.apply(first, project),
            () -> {
              story.note(effect);
              story.killed(stage.a);
            });
    story.expect("the client has no answer", !story.cameBack(stage.a, cut).isOk());

    story.sent(stage.b, "the same call, with the same key");
    Answer retried = story.await(pause, () -> create.apply(ada, project));
    story.expect("the handler runs", story.cameBack(stage.b, retried).isFirst());
    Answer again =
        story.call(stage.b, "the same call, with the same key", () -> create.apply(ada, project));
    story.expect("the retry is a replay", again.isReplayOf(retried));
    story.rows(rows.apply(stage, key));
  }
}
