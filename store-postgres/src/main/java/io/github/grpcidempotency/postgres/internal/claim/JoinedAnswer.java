package io.github.grpcidempotency.postgres.internal.claim;

import io.github.grpcidempotency.postgres.HostTransaction.Completion;
import io.github.grpcidempotency.store.RecordedOutcome;
import java.util.ArrayList;
import java.util.List;

/**
 * The answer that a handler's own transaction records, and the known state of that transaction.
 * Thread-safe.
 */
public final class JoinedAnswer {
  enum State {
    /** The host's transaction is open, and will write the answer before it commits. */
    OPEN,
    /** The transaction is committed with the answer. */
    COMMITTED,
    /** The host has committed the transaction without the answer. */
    UNRECORDED,
    /** The host has rolled the transaction back. */
    ROLLED_BACK,
    /**
     * The outcome is unknown: the answer was sent together with the commit, or the host does not
     * know.
     */
    UNKNOWN
  }

  private final RecordedOutcome outcome;
  private final List<Runnable> settlements = new ArrayList<>();
  private State state;
  private boolean recorded;

  JoinedAnswer(RecordedOutcome outcome, State state) {
    this.outcome = outcome;
    this.state = state;
  }

  RecordedOutcome outcome() {
    return outcome;
  }

  synchronized State state() {
    return state;
  }

  synchronized void recorded() {
    recorded = true;
  }

  /** Keeps a settlement until the transaction ends; returns false if there is no need to wait. */
  synchronized boolean defer(Runnable settlement) {
    return state == State.OPEN && settlements.add(settlement);
  }

  void ended(Completion completion) {
    end(completion).forEach(Runnable::run);
  }

  private synchronized List<Runnable> end(Completion completion) {
    state =
        switch (completion) {
          case COMMITTED -> recorded ? State.COMMITTED : State.UNRECORDED;
          case ROLLED_BACK -> State.ROLLED_BACK;
          case UNKNOWN -> State.UNKNOWN;
        };
    List<Runnable> deferred = List.copyOf(settlements);
    settlements.clear();
    return deferred;
  }
}
