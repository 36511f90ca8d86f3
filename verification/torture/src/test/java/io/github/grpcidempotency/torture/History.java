package io.github.grpcidempotency.torture;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.github.grpcidempotency.torture.Operation.Scope;
import io.github.grpcidempotency.torture.v1.Effect;
import io.grpc.Status.Code;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * All that happened in a run. Times are milliseconds of the one clock that is never set wrong.
 *
 * @param lease the servers' lease
 * @param refusedRecordings how often the database refused to record an answer, for good
 * @param preempted how often a handler ran, and its call was answered with another call's record
 * @param batches the statements that servers sent for several reserved calls at once
 */
record History(
    Duration lease,
    List<Call> calls,
    List<CommittedEffect> effects,
    List<Change> changes,
    List<Fault> faults,
    List<StoredAnswer> stored,
    long refusedRecordings,
    long preempted,
    Batches batches,
    List<Life> lives,
    Replication replication,
    List<Finding> findings) {

  /**
   * How the database keeps what it has confirmed.
   *
   * @param mayLose whether a failover may take back what was confirmed
   * @param timelines on which each effect was written, whether it was kept or not; of a database
   *     that fails over
   */
  record Replication(boolean mayLose, Map<UUID, Long> timelines) {
    /** That of a single node. */
    static final Replication NONE = new Replication(false, Map.of());
  }

  /** How many batches were sent, and how many calls they had together. */
  record Batches(long batches, long calls) {
    static final Batches NONE = new Batches(0, 0);
  }

  /** Who made a call, and what for. */
  enum Purpose {
    /** The first call of an operation, or a retry that does not say that it is one. */
    WORK,
    /** A retry that says so: its server looks for an answer before it does anything else. */
    RETRY,
    /** The same again while the first runs, or long after it was answered. */
    DUPLICATE,
    /** Another request or another method with a key that is taken. */
    MISMATCH,
    /** Waits for the operation of a call, by its name, through the Operations service. */
    WAIT,
    /** After the faults have stopped: is the key still usable? */
    PROBE
  }

  /**
   * What a call says beside its request.
   *
   * @param manner of its handler
   * @param hasRight whether its session may have a recorded answer of a guarded method
   */
  record Session(Manner manner, boolean hasRight) {
    static final Session ORDINARY = new Session(Manner.ORDINARY, true);
  }

  /** A call as its client saw it. */
  record Call(
      Purpose purpose,
      Operation operation,
      int server,
      long start,
      long end,
      long deadline,
      boolean cancelled,
      Code code,
      String reason,
      boolean replayed,
      Optional<Answer> answer,
      Session session) {
    Scope scope() {
      return operation.scope();
    }

    Form form() {
      return operation.form();
    }

    String payload() {
      return operation.request().getPayload();
    }

    /** Whether its answer, if it has one, comes from the record. */
    boolean isOfRecord() {
      return replayed || purpose == Purpose.WAIT;
    }

    boolean isOk() {
      return code == Code.OK;
    }

    /** Whether the handler failed for good; the reason says how. */
    boolean isTerminal() {
      return code == Code.FAILED_PRECONDITION;
    }
  }

  /** A successful answer: its bytes, and what they say. */
  record Answer(ByteString bytes, Scope scope, String form, String payload, UUID value) {
    static Answer of(Effect effect) {
      return new Answer(
          effect.toByteString(),
          new Scope(UUID.fromString(effect.getUser()), effect.getKey()),
          effect.getForm(),
          effect.getPayload(),
          UUID.fromString(effect.getValue()));
    }
  }

  /**
   * Something that no call shows, and that breaks a rule.
   *
   * @param server whose; empty if that is not known
   */
  record Finding(Rule rule, String server, String what, long at) {}

  /**
   * A row of the effects' table.
   *
   * @param guarded whether its handler ran under a claim
   * @param way of the handler to or from its claim
   * @param began when its handler began
   * @param at when the row was written
   */
  record CommittedEffect(
      Scope scope,
      String server,
      Form form,
      String payload,
      UUID value,
      boolean guarded,
      Way way,
      long began,
      long at) {
    boolean isOf(int index) {
      return server.equals(ServerNode.name(index));
    }
  }

  /** Something that was done to a record: {@code UPDATE}, {@code DELETE} or {@code TAKEOVER}. */
  record Change(String kind, Scope scope, long at) {
    boolean isTakeover() {
      return kind.equals("TAKEOVER");
    }
  }

  /** A completed record as it stands at the end. */
  record StoredAnswer(Scope scope, ByteString bytes) {
    UUID value() {
      return UUID.fromString(effect().getValue());
    }

    Form form() {
      return Form.valueOf(effect().getForm());
    }

    private Effect effect() {
      try {
        return Effect.parseFrom(bytes);
      } catch (InvalidProtocolBufferException unreadable) {
        throw new IllegalStateException("the record of " + scope + " is no answer", unreadable);
      }
    }
  }

  /**
   * Something that was broken.
   *
   * @param server which server's; -1 for the database
   * @param detail the statement at which a connection was cut, or how long it took
   */
  record Fault(FaultKind kind, int server, String detail, long start, long end) {
    boolean touches(long first, long last) {
      return end >= first && start <= last;
    }

    boolean concerns(int index) {
      return server < 0 || server == index;
    }
  }

  /**
   * One process of a server.
   *
   * @param refused why it did not want to live so; empty if it did not mind
   */
  record Life(int server, long start, long end, ServerLife life, String refused) {
    boolean isRefused() {
      return !refused.isEmpty();
    }
  }
}
