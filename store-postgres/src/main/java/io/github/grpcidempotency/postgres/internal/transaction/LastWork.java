package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.spi.HostTransaction.Completion;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.util.Optional;
import org.jdbi.v3.core.JdbiException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last work in a transaction that the host commits, such as the record. A commit without it is
 * an error. Otherwise, its own failure decides first how the call is settled; then what the host
 * returns; and if the host throws, the error of the database.
 */
final class LastWork implements Runnable {
  private static final Logger logger = LoggerFactory.getLogger(LastWork.class);

  private final Runnable work;
  private boolean done;
  private Optional<RuntimeException> failure = Optional.empty();

  LastWork(Runnable work) {
    this.work = work;
  }

  @Override
  public void run() {
    try {
      work.run();
      done = true;
    } catch (RuntimeException thrown) {
      failure = Optional.of(thrown);
      throw thrown;
    }
  }

  /** Returns the settlement after a commit that has returned. */
  Settled settlementOf(Completion completion) {
    if (completion == Completion.COMMITTED) {
      return committed();
    }
    if (failure.isPresent()) {
      return settlementOfFailure();
    }
    if (completion == Completion.UNKNOWN) {
      throw unknown(null);
    }
    logger.warn(
        "the host's transaction manager rolled the transaction back, because the transaction was"
            + " marked for rollback, has timed out, or was rolled back by the handler");
    return Settled.ROLLED_BACK;
  }

  /** Returns the settlement after a commit that has thrown an exception. */
  Settled settlementOf(Throwable thrown) {
    if (failure.isPresent()) {
      return settlementOfFailure();
    }
    if (thrown instanceof TransactionMisuseException misuse) {
      throw misuse;
    }
    JdbiException known = Failures.ofCommit(thrown);
    if (done && !Failures.isOfDriver(known)) {
      throw unknown(thrown);
    }
    if (Failures.isCutOff(known)) {
      throw Failures.of("could not commit the transaction", known);
    }
    if (Failures.isLostRace(known)) {
      return Settled.LOST;
    }
    logger.error("the transaction could not be committed and was rolled back", thrown);
    return Settled.ROLLED_BACK;
  }

  private Settled settlementOfFailure() {
    if (failure.get() instanceof JdbiException ofDatabase) {
      return FailedCommit.settlementOf(ofDatabase);
    }
    throw failure.get();
  }

  private Settled committed() {
    if (done) {
      return Settled.DONE;
    }
    TransactionMisuseException unrecorded =
        new TransactionMisuseException(
            "the transaction of the call was committed without a record: the handler has ended its"
                + " transaction, or the host did not run the record, or has ignored its failure;"
                + " then correct the HostTransactions implementation");
    failure.ifPresent(unrecorded::addSuppressed);
    logger.error("a retry of the call may run the handler again", unrecorded);
    throw unrecorded;
  }

  private static StoreException unknown(@Nullable Throwable cause) {
    return StoreException.of(
            FailurePhase.HANDLER_DONE,
            FailureCause.CONNECTION_LOST,
            "the host's transaction manager does not know whether the transaction was committed")
        .initCause(cause);
  }
}
