package io.github.grpcidempotency.spring;

import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;

/** The host's own listeners, which do what the event says. */
class Listeners {
  /** Says that something was created. */
  record Created(Runnable beforeCommit, Runnable afterCommit, Runnable afterRollback) {}

  @TransactionalEventListener(phase = TransactionPhase.BEFORE_COMMIT)
  public void beforeCommit(Created event) {
    event.beforeCommit().run();
  }

  @TransactionalEventListener
  public void afterCommit(Created event) {
    event.afterCommit().run();
  }

  @TransactionalEventListener(phase = TransactionPhase.AFTER_ROLLBACK)
  public void afterRollback(Created event) {
    event.afterRollback().run();
  }
}
