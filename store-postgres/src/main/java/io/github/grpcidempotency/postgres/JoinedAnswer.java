package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.postgres.HostTransaction.Completion;
import io.github.grpcidempotency.store.RecordedOutcome;
import java.util.ArrayList;
import java.util.List;

/**
 * What a handler's own transaction records, and what is known of that transaction's end.
 * Thread-safe.
 */
final class JoinedAnswer {
  /** What is known. */
  enum State {
    /** The host's transaction is open, and is about to write it. */
    OPEN,
    /** It is committed. */
    COMMITTED,
    /** The host has committed, but not this. */
    UNRECORDED,
    /** The host has rolled it back. */
    ROLLED_BACK,
    /** It was sent together with its commit, or the host does not know. */
    UNKNOWN
  }

  private final RecordedOutcome outcome;
  private final List<Runnable> settlements = new ArrayList<>();
  private State state;
  private boolean recorded;

  private JoinedAnswer(RecordedOutcome outcome, State state) {
    this.outcome = outcome;
    this.state = state;
  }

  /** Makes what is about to be sent together with its commit. */
  static JoinedAnswer sent(RecordedOutcome outcome) {
    return new JoinedAnswer(outcome, State.UNKNOWN);
  }

  /** Makes what a transaction of the host will write before it commits. */
  static JoinedAnswer ofHost(RecordedOutcome outcome) {
    return new JoinedAnswer(outcome, State.OPEN);
  }

  RecordedOutcome outcome() {
    return outcome;
  }

  synchronized State state() {
    return state;
  }

  /** It has been written in its transaction. */
  synchronized void recorded() {
    recorded = true;
  }

  /** Keeps a settlement until the transaction ends; returns false if there is no need to wait. */
  synchronized boolean defer(Runnable settlement) {
    return state == State.OPEN && settlements.add(settlement);
  }

  /** The host's transaction has ended. */
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
