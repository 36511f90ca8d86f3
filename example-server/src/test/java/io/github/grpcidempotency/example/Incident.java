package io.github.grpcidempotency.example;

import com.google.common.collect.ImmutableSet;
import com.google.errorprone.annotations.Immutable;
import io.github.grpcidempotency.fault.ServerProcess;
import java.time.Duration;

/** What operators meet: a fault, the alert that names its cause, and the remedy of the pages. */
enum Incident {
  DATABASE_STOPPED(
      "PostgreSQL does not run",
      "IdempotencyCallsRefused no_connection",
      drill -> drill.postgres.stop(),
      drill -> drill.postgres.startAgain(),
      "IdempotencyCallsRefused no_login", // while it starts
      "IdempotencyMetricsUnreadable"),

  PORT_REFUSED(
      "a firewall refuses connections to the database",
      "IdempotencyCallsRefused no_connection",
      drill -> drill.behindNetwork().refuse(),
      drill -> drill.network.restore(),
      "IdempotencyMetricsUnreadable"),

  NETWORK_SILENT(
      "a firewall drops all packets to the database",
      "IdempotencyCallsRefused no_login",
      drill -> drill.behindNetwork().swallow(),
      drill -> drill.network.restore(),
      "IdempotencyCallsRefused pool_exhausted", // until the driver gives up its connections
      "IdempotencyCallsRefused connection_lost",
      "IdempotencyMetricsUnreadable"),

  CONNECTIONS_CUT(
      "a firewall cuts connections several times a second",
      "IdempotencyCallsRefused connection_lost",
      drill -> {
        drill.behindNetwork();
        drill.repeat(Duration.ofMillis(150), drill.network::cutAll);
      },
      Drill::stopRepeating,
      "IdempotencyCallsRefused other", // a guard queries the database itself
      "IdempotencyCallsRefused no_login",
      "IdempotencyMetricsUnreadable"),

  SLOW_NETWORK(
      "each packet to the database takes 0.4 s",
      "IdempotencyStoreSlow",
      drill -> drill.behindNetwork().slow(Duration.ofMillis(400)),
      drill -> drill.network.restore(),
      "IdempotencyCallsRefused pool_exhausted",
      "IdempotencyPoolUsedUp"),

  VERY_SLOW_NETWORK(
      "each packet to the database takes 3 s",
      "IdempotencyStoreSlow",
      drill -> drill.behindNetwork().slow(Duration.ofSeconds(3)),
      drill -> drill.network.restore(),
      "IdempotencyCallsRefused pool_exhausted",
      "IdempotencyPoolUsedUp",
      "IdempotencyMetricsUnreadable"),

  LOGIN_REFUSED(
      "the database refuses the login",
      "IdempotencyCallsRefused no_login",
      drill -> {
        drill.execute("ALTER ROLE example_app NOLOGIN");
        drill.endConnectionsOf("example_app");
      },
      drill -> drill.execute("ALTER ROLE example_app LOGIN"),
      "IdempotencyMetricsUnreadable"),

  TOO_MANY_CONNECTIONS(
      "the database accepts no more connections",
      "IdempotencyCallsRefused pool_exhausted",
      drill -> {
        drill.execute("ALTER ROLE example_app CONNECTION LIMIT 0");
        drill.endConnectionsOf("example_app");
      },
      drill -> drill.execute("ALTER ROLE example_app CONNECTION LIMIT -1"),
      "IdempotencyMetricsUnreadable"),

  READ_ONLY(
      "the primary has become a standby, and keeps its connections",
      "IdempotencyCallsRefused read_only",
      drill ->
          drill.execute(
              "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()"),
      drill ->
          drill.execute(
              "ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()")),

  NO_PRIMARY(
      "no node of the URL is a primary",
      "IdempotencyCallsRefused no_primary",
      drill -> {
        drill.restart(drill.url() + "&targetServerType=primary", Drill.LEASE);
        drill.execute(
            "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()");
        drill.endConnectionsOf("example_app");
      },
      drill ->
          drill.execute(
              "ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()"),
      "IdempotencyMetricsUnreadable"),

  RIGHT_REVOKED(
      "a right on the table of keys is revoked",
      "IdempotencyCallsRefused broken",
      drill -> drill.execute("REVOKE INSERT ON idempotency.idempotency_keys FROM example_app"),
      Incident::grantAgain),

  TABLE_GONE(
      "the table of keys is gone",
      "IdempotencyCallsRefused broken",
      drill -> drill.execute("ALTER TABLE idempotency.idempotency_keys RENAME TO gone"),
      drill -> drill.execute("ALTER TABLE idempotency.gone RENAME TO idempotency_keys"),
      "IdempotencyMetricsUnreadable"),

  DISK_FULL(
      "the disk is full",
      "IdempotencyCallsRefused broken",
      drill ->
          drill.execute(
              """
              CREATE FUNCTION public.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
              BEGIN
                RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100';
              END
              $$
              """,
              """
              CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON idempotency.idempotency_keys
                FOR EACH ROW EXECUTE FUNCTION public.full_disk()
              """),
      drill -> drill.execute("DROP FUNCTION public.full_disk CASCADE")),

  TABLE_OF_SERVICE_LOCKED(
      "a transaction locks a table of the service",
      "IdempotencyCallsRefused pool_exhausted",
      drill -> drill.forgetTransaction("LOCK TABLE tenant.projects IN SHARE MODE"),
      Drill::endForgottenTransactions),

  ROW_LOCKED(
      "a transaction locks a row that every call refers to",
      "IdempotencyCallsRefused pool_exhausted",
      drill -> drill.forgetTransaction("SELECT FROM tenant.clusters FOR UPDATE"),
      Drill::endForgottenTransactions,
      "IdempotencyWaitQueueGrows"),

  TABLE_OF_KEYS_LOCKED(
      "a transaction locks the table of keys",
      "IdempotencyCallsRefused contention",
      drill -> drill.forgetTransaction("LOCK TABLE idempotency.idempotency_keys"),
      Drill::endForgottenTransactions,
      "IdempotencyCallsRefused pool_exhausted",
      "IdempotencyPoolUsedUp",
      "IdempotencyMetricsUnreadable"),

  STATEMENT_TIMEOUT(
      "the role's statement_timeout is too short",
      "IdempotencyCallsRefused timeout",
      drill -> {
        drill.execute("ALTER ROLE example_app SET statement_timeout = '1ms'");
        drill.endConnectionsOf("example_app");
      },
      drill -> {
        drill.execute("ALTER ROLE example_app RESET statement_timeout");
        drill.endConnectionsOf("example_app");
      },
      "IdempotencyCallsRefused shutting_down", // the connections that were ended
      "IdempotencyMetricsUnreadable"),

  CLOCK_FORWARD(
      "the database's clock jumps forward by an hour",
      "IdempotencyDatabaseClockJumps",
      drill -> drill.letClockJump("1 h"),
      drill -> {}),

  CLOCK_BACK(
      "the database's clock jumps back by 90 seconds",
      "IdempotencyDatabaseClockJumps",
      drill -> drill.letClockJump("-90 s"),
      drill -> {}),

  ANSWERS_WAIT(
      "answers cannot be recorded",
      "IdempotencyLateRecordingsPileUp",
      drill -> {
        drill.forgetTransaction("LOCK TABLE tenant.node_pools IN SHARE MODE");
        drill.awaitWriters("tenant.node_pools", 6);
        drill.execute("REVOKE UPDATE ON idempotency.idempotency_keys FROM example_app");
        drill.endForgottenTransactions();
      },
      Incident::grantAgain,
      "IdempotencyCallsRefused broken"),

  LEASES_NOT_RENEWED(
      "the right to renew leases is revoked",
      "IdempotencyRenewalsFail",
      drill -> {
        drill.stopSelling();
        drill.restart(drill.url(), Duration.ofSeconds(6));
        drill.execute("REVOKE EXECUTE ON FUNCTION idempotency.renew_leases FROM example_app");
      },
      drill -> {
        drill.sellAgain();
        grantAgain(drill);
      },
      "IdempotencyWaitQueueGrows",
      "IdempotencyStuckLeases"),

  SWEEPS_FAIL(
      "the right to sweep is revoked",
      "IdempotencySweepsFail",
      drill -> {
        drill.execute("REVOKE EXECUTE ON FUNCTION idempotency.sweep_expired FROM example_app");
        drill.forgetHistory(); // sweeps have succeeded in the last three hours
      },
      Incident::grantAgain),

  SERVER_KILLED(
      "a server is killed in a call, and its client does not retry",
      "IdempotencyStuckLeases",
      drill -> {
        ServerProcess other = drill.withOtherServer();
        drill.runOnOtherServer();
        drill.begin();
        other.kill();
      },
      drill -> {
        drill.retry();
        drill.replaceOtherServer();
      },
      "IdempotencyServerGone"),

  SERVER_FROZEN(
      "one of two servers is frozen",
      "IdempotencyServerGone",
      drill -> drill.withOtherServer().stop(),
      Drill::replaceOtherServer),

  CALL_FAILS_AGAIN(
      "a client repeats a call that cannot succeed",
      "IdempotencyKeysFail",
      Drill::repeatFailingCall,
      Drill::stopRepeating),

  DUPLICATES_PILE_UP(
      "clients repeat a call that takes long",
      "IdempotencyWaitQueueGrows",
      Drill::repeatRunningCall,
      drill -> {
        drill.stopRepeating();
        drill.sellAgain();
      },
      "IdempotencyOldCall"),

  WORKER_STOPPED(
      "the worker of the outbox stops",
      "IdempotencyWorkStops",
      drill -> {
        drill.execute("ALTER ROLE example_worker NOLOGIN");
        drill.endConnectionsOf("example_worker");
      },
      drill -> drill.execute("ALTER ROLE example_worker LOGIN")),

  OUTBOX_HIDDEN(
      "the right to read the outbox is revoked",
      "IdempotencyStatusUnknown",
      drill -> drill.execute("REVOKE SELECT ON authz.outbox FROM example_app"),
      drill -> drill.execute("GRANT SELECT ON authz.outbox TO example_app")),

  FIGURES_HIDDEN(
      "the right to read figures is revoked",
      "IdempotencyMetricsUnreadable",
      drill ->
          drill.execute("REVOKE EXECUTE ON FUNCTION idempotency.statistics() FROM example_app"),
      Incident::grantAgain),

  WRONG_KEYSET(
      "a server has another keyset",
      "IdempotencyRecordsUnreadable",
      drill -> drill.keyset.beWrong(),
      drill -> drill.keyset.beRight()),

  HANDLER_HANGS(
      "a handler never answers",
      "IdempotencyOldCall",
      Drill::stopSelling,
      Drill::sellAgain,
      "IdempotencyWaitQueueGrows"),

  NO_SERVER(
      "no server runs", "IdempotencyMetricsMissing", Drill::stopServer, Drill::startServerAgain);

  /** Changes something in the drill. */
  @Immutable
  @FunctionalInterface
  interface Step {
    void accept(Drill drill);
  }

  final String name;
  final String alert;
  final Step fault;
  final Step remedy;
  final ImmutableSet<String> consequences;

  /**
   * Describes an incident.
   *
   * @param alert the name of the alert, and its cause if it has one
   * @param consequences other alerts that may fire
   */
  Incident(String name, String alert, Step fault, Step remedy, String... consequences) {
    this.name = name;
    this.alert = alert;
    this.fault = fault;
    this.remedy = remedy;
    this.consequences = ImmutableSet.copyOf(consequences);
  }

  private static void grantAgain(Drill drill) {
    drill.execute("SELECT idempotency.grant_to('example_app')");
  }

  @Override
  public String toString() {
    return name;
  }
}
