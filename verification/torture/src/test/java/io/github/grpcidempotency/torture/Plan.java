package io.github.grpcidempotency.torture;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;

/**
 * The settings of a run: everything but the seed.
 *
 * @param servers what each is built with
 * @param pause between two faults, on average
 * @param faults how often each kind is chosen, relative to the others
 * @param cuts where connections are cut; a statement that is listed twice is chosen twice as often
 * @param forms the methods called
 * @param mix the properties of operations
 * @param lives how server processes are set up
 */
record Plan(
    Duration length,
    List<ServerKind> servers,
    int clients,
    Duration lease,
    Duration pause,
    Map<FaultKind, Integer> faults,
    List<String> cuts,
    List<Form> forms,
    Mix mix,
    Lives lives) {

  /**
   * The properties of operations, in percent.
   *
   * @param slow handlers that outlast a lease
   * @param failing handlers that sometimes fail
   * @param terminal handlers that may fail for good
   * @param expired keys that have an expired record
   * @param manners how handlers behave that are not ordinary; the first that fits is chosen
   * @param waiting guarded operations that several sessions wait for
   * @param withoutRight sessions that may not have the record of a guarded method
   * @param queueing operations whose duplicates wait behind a call of another method
   * @param hurried calls whose deadline is a small part of a lease
   */
  record Mix(
      int slow,
      int failing,
      int terminal,
      int expired,
      Map<Manner, Integer> manners,
      int waiting,
      int withoutRight,
      int queueing,
      int hurried) {
    /** Handlers are ordinary, and nobody waits by name. */
    Mix(int slow, int failing, int terminal, int expired) {
      this(slow, failing, terminal, expired, Map.of(), 0, 0, 0, 0);
    }

    /** Returns a mix in which some handlers behave otherwise. */
    Mix behaving(Map<Manner, Integer> others) {
      return new Mix(
          slow, failing, terminal, expired, others, waiting, withoutRight, queueing, hurried);
    }

    /** Returns a mix in which some callers give up soon, and try again. */
    Mix hurrying(int percent) {
      return new Mix(
          slow, failing, terminal, expired, manners, waiting, withoutRight, queueing, percent);
    }

    /** Returns a mix with sessions that wait beside others. */
    Mix waiting(int named, int strangers, int behindOthers) {
      return new Mix(
          slow, failing, terminal, expired, manners, named, strangers, behindOthers, hurried);
    }
  }

  /** How server processes are set up. */
  sealed interface Lives {
    /** Each process has a different mix of all settings. */
    record Mixed() implements Lives {}

    /** All processes of a server are alike. There is one life for each server. */
    record Alike(List<ServerLife> lives) implements Lives {
      Alike(ServerLife life) {
        this(List.of(life));
      }

      ServerLife of(int server) {
        return lives.get(server % lives.size());
      }
    }
  }

  static final String COMMIT = "COMMIT";
  static final String COMPLETION = "completed = now()";
  static final String RETENTION = "interval '0.9 millisecond'";

  static final String RESERVATION = "ON CONFLICT (idempotency_key, user_uuid, tenant, project)";
  static final String TRANSACTION = "AS locked";

  /** What a record that claims its key raises where another call has it, in the last flush. */
  static final String CLAIM_AT_COMMIT = "refuse_claim()";

  /** What looks for the owner of a key after a handler at commit has failed. */
  static final String LOOK_UP = "AS owned";

  /** What a record and its commit raise in their one flush where a reservation is lost. */
  static final String LAST_FLUSH = "refuse_commit(";

  private static final List<String> ALL_CUTS =
      List.of(
          COMMIT,
          COMMIT,
          COMMIT,
          COMMIT,
          COMPLETION,
          COMPLETION,
          RESERVATION,
          TRANSACTION,
          CLAIM_AT_COMMIT,
          CLAIM_AT_COMMIT,
          LOOK_UP,
          LAST_FLUSH,
          "attempt = k.attempt + 1",
          "renew_leases",
          RETENTION,
          "DELETE FROM idempotency.idempotency_keys",
          "torture.effects");

  /** Operations of handlers that do everything on their threads, and answer at the end. */
  static final Mix ORDINARY = new Mix(3, 20, 6, 4);

  private static final Mix ALL_MANNERS =
      ORDINARY
          .behaving(
              Map.of(
                  Manner.ELSEWHERE,
                  8,
                  Manner.WITHIN,
                  6,
                  Manner.HOLDING,
                  4,
                  Manner.NEVER,
                  1,
                  Manner.INTERRUPTED,
                  40))
          .waiting(50, 40, 10)
          .hurrying(4);

  /** Handlers that never answer keep their clients waiting for three leases. */
  private static final Mix ALL_THAT_ANSWER =
      ORDINARY
          .behaving(
              Map.of(
                  Manner.ELSEWHERE, 8, Manner.WITHIN, 6, Manner.HOLDING, 4, Manner.INTERRUPTED, 40))
          .hurrying(4)
          .waiting(100, 40, 10); // a short run has few operations to wait for

  /** All faults, all the time. */
  static Plan everything(Duration length) {
    Map<FaultKind, Integer> faults = new EnumMap<>(FaultKind.class);
    faults.put(FaultKind.KILL, 24);
    faults.put(FaultKind.STOP, 4);
    faults.put(FaultKind.SKEW, 4);
    faults.put(FaultKind.DATABASE_STOP, 2);
    faults.put(FaultKind.DATABASE_KILL, 2);
    faults.put(FaultKind.CUT_BEFORE, 40);
    faults.put(FaultKind.CUT_AFTER, 40);
    faults.put(FaultKind.CUT_ALL, 4);
    faults.put(FaultKind.SWALLOW, 2);
    faults.put(FaultKind.SWALLOW_CLAIM, 8);
    faults.put(FaultKind.EXHAUST, 4);
    faults.put(FaultKind.REFUSE, 3);
    faults.put(FaultKind.READ_ONLY, 3);
    faults.put(FaultKind.CLOSE, 3);
    faults.put(FaultKind.REFUSE_LOGINS, 3);
    return new Plan(
        length,
        List.of(ServerKind.PLAIN, ServerKind.JTA, ServerKind.SPRING),
        48,
        Duration.ofMillis(2_000),
        Duration.ofMillis(300),
        faults,
        ALL_CUTS,
        List.of(Form.values()),
        ALL_MANNERS,
        new Lives.Mixed());
  }

  /**
   * What {@code mvn verify} has time for: every method and every setting, cuts at every statement,
   * and one kind of fault each of servers that die or stand still, and of a database that dies.
   */
  static Plan brief() {
    Map<FaultKind, Integer> faults = new EnumMap<>(FaultKind.class);
    faults.put(FaultKind.KILL, 4);
    faults.put(FaultKind.STOP, 1);
    faults.put(FaultKind.DATABASE_KILL, 1);
    faults.put(FaultKind.CUT_BEFORE, 20);
    faults.put(FaultKind.CUT_AFTER, 20);
    faults.put(FaultKind.SWALLOW_CLAIM, 4);
    return everything(Duration.ofSeconds(4))
        .breaking(faults)
        .serving(ServerKind.PLAIN, ServerKind.SPRING)
        .calling(8)
        .leasing(Duration.ofSeconds(1))
        .mixing(ALL_THAT_ANSWER);
  }

  /**
   * What servers survive that are killed all the time: what a call leaves behind stays for as long
   * as its process. Connections are cut, and logins refused.
   */
  static Plan undisturbed(Duration length) {
    Map<FaultKind, Integer> faults = new EnumMap<>(FaultKind.class);
    faults.put(FaultKind.CUT_BEFORE, 4);
    faults.put(FaultKind.CUT_AFTER, 4);
    faults.put(FaultKind.REFUSE_LOGINS, 1);
    return everything(length)
        .breaking(faults)
        .calling(16)
        .pausing(Duration.ofSeconds(1))
        .leasing(Duration.ofSeconds(1))
        .living(ServerLife.ordinary());
  }

  /** Every kind of failover, one after the other, and nothing else: what they cost is measured. */
  static Plan failovers(Duration length) {
    Map<FaultKind, Integer> faults = new EnumMap<>(FaultKind.class);
    faults.put(FaultKind.SWITCHOVER, 3);
    faults.put(FaultKind.PRIMARY_KILL, 3);
    faults.put(FaultKind.PRIMARY_FREEZE, 1);
    faults.put(FaultKind.MANAGER_FREEZE, 1);
    faults.put(FaultKind.LAGGING_REPLICAS, 2);
    return everything(length)
        .breaking(faults)
        .serving(ServerKind.PLAIN, ServerKind.SPRING)
        .calling(16)
        .leasing(Duration.ofSeconds(3))
        .pausing(Duration.ofSeconds(2))
        .mixing(ALL_THAT_ANSWER)
        .living(ServerLife.ordinary());
  }

  /**
   * The same, while servers die, stand still and lose connections, and no two of them are alike.
   */
  static Plan failoversAndServers(Duration length) {
    Map<FaultKind, Integer> faults = new EnumMap<>(failovers(length).faults());
    faults.put(FaultKind.KILL, 4);
    faults.put(FaultKind.STOP, 1);
    faults.put(FaultKind.CUT_BEFORE, 8);
    faults.put(FaultKind.CUT_AFTER, 8);
    faults.put(FaultKind.CUT_ALL, 1);
    faults.put(FaultKind.SWALLOW_CLAIM, 2);
    faults.put(FaultKind.CLOSE, 1);
    return failovers(length)
        .breaking(faults)
        .calling(24)
        .pausing(Duration.ofSeconds(1))
        .mixing(ALL_MANNERS)
        .living(new Lives.Mixed());
  }

  /** Whether another node becomes the primary now and then. */
  boolean failsOver() {
    return faults.keySet().stream().anyMatch(FaultKind::isFailover);
  }

  /** Returns the part of it whose faults happen beside those of the rest. */
  Plan onlyFailovers(boolean wanted) {
    Map<FaultKind, Integer> some = new EnumMap<>(FaultKind.class);
    faults.forEach(
        (kind, weight) -> {
          if (kind.isFailover() == wanted) {
            some.put(kind, weight);
          }
        });
    return breaking(some);
  }

  /** Returns what the first flush of a claim contains. */
  List<String> claims() {
    return forms.stream().map(Form::claim).distinct().toList();
  }

  /** A short run with only some of the faults. */
  static Plan only(Duration length, Map<FaultKind, Integer> faults, Form... forms) {
    return new Plan(
        length,
        List.of(ServerKind.PLAIN, ServerKind.PLAIN),
        8,
        Duration.ofMillis(1_000),
        Duration.ofMillis(600),
        faults,
        ALL_CUTS,
        List.of(forms),
        new Mix(40, 20, 0, 0),
        new Lives.Alike(ServerLife.ordinary()));
  }

  Plan breaking(Map<FaultKind, Integer> others) {
    return new Plan(length, servers, clients, lease, pause, others, cuts, forms, mix, lives);
  }

  Plan cutting(String... statements) {
    return new Plan(
        length, servers, clients, lease, pause, faults, List.of(statements), forms, mix, lives);
  }

  Plan serving(ServerKind... others) {
    return new Plan(
        length, List.of(others), clients, lease, pause, faults, cuts, forms, mix, lives);
  }

  Plan calling(int otherClients) {
    return new Plan(length, servers, otherClients, lease, pause, faults, cuts, forms, mix, lives);
  }

  /** Returns a plan that calls only some of the methods. */
  Plan through(Form... others) {
    return new Plan(
        length, servers, clients, lease, pause, faults, cuts, List.of(others), mix, lives);
  }

  Plan leasing(Duration other) {
    return new Plan(length, servers, clients, other, pause, faults, cuts, forms, mix, lives);
  }

  Plan pausing(Duration other) {
    return new Plan(length, servers, clients, lease, other, faults, cuts, forms, mix, lives);
  }

  Plan mixing(Mix other) {
    return new Plan(length, servers, clients, lease, pause, faults, cuts, forms, other, lives);
  }

  /** Returns a plan whose servers have one life each, in turn. */
  Plan living(ServerLife... each) {
    return living(new Lives.Alike(List.of(each)));
  }

  private Plan living(Lives others) {
    return new Plan(length, servers, clients, lease, pause, faults, cuts, forms, mix, others);
  }

  /** Returns how the processes of a server are set up, one after the other. */
  Supplier<ServerLife> livesOf(int server, long seed) {
    if (lives instanceof Lives.Alike alike) {
      return () -> alike.of(server);
    }
    Random random = new Random(seed * servers.size() + server);
    return () -> ServerLife.draw(random);
  }
}
