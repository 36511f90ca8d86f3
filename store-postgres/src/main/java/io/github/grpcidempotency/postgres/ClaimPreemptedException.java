package io.github.grpcidempotency.postgres;

/**
 * A handler's first statement did not run, because another call has the key, or has recorded an
 * answer under it. Thrown from that statement, and from every later use of the transaction, of a
 * procedure that is claimed {@link
 * io.github.grpcidempotency.procedure.ClaimTiming#WITH_FIRST_STATEMENT with its first statement}.
 * Nothing of the handler remains, and whatever it answers is dropped: it should just let this pass.
 * It has no stack trace.
 */
public final class ClaimPreemptedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ClaimPreemptedException() {
    super(
        "another call has the key of this one, or has answered it; nothing of this handler remains,"
            + " and what it answers is dropped",
        null,
        false,
        false);
  }
}
