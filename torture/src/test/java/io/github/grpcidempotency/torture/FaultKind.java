package io.github.grpcidempotency.torture;

/** The ways to break things. */
enum FaultKind {
  /** A server dies by SIGKILL and is started again. */
  KILL,
  /** A server is stopped by SIGSTOP for longer than a lease, and goes on. */
  STOP,
  /** A server is killed and started again with a clock that is an hour off. */
  SKEW,
  /** PostgreSQL is told to stop at once (SIGQUIT to the postmaster). */
  DATABASE_STOP,
  /** The postmaster dies by SIGKILL. */
  DATABASE_KILL,
  /** A server's connection is cut before a statement reaches the database. */
  CUT_BEFORE,
  /** A server's connection is cut when the database has run a statement, before it says so. */
  CUT_AFTER,
  /** All connections of a server are cut. */
  CUT_ALL,
  /** Nothing passes between a server and the database, and nobody says so. */
  SWALLOW,
  /**
   * A claim, or the answer to one, is held up for longer than a lease, and then goes on, or the
   * connection is cut.
   */
  SWALLOW_CLAIM,
  /** A server's pool has no connection left. */
  EXHAUST,
  /** A server gets no connection to the database, and loses those that it has. */
  REFUSE,
  /** The database is read-only, to connections that stand or to all. */
  READ_ONLY,
  /** A server is shut down in an orderly way, while calls wait, and is started again. */
  CLOSE;

  /** Whether calls go on beside it. */
  boolean isLight() {
    return this == CUT_BEFORE || this == CUT_AFTER || this == CUT_ALL || this == SWALLOW_CLAIM;
  }

  /** Whether it is the database's, not a server's. */
  boolean isOfDatabase() {
    return this == DATABASE_STOP || this == DATABASE_KILL || this == READ_ONLY;
  }

  /** Whether a server cannot connect to the database while it lasts. */
  boolean preventsConnections() {
    return this == DATABASE_STOP || this == DATABASE_KILL || this == REFUSE || this == SWALLOW;
  }

  /**
   * Whether a handler without a joined record may have to run again after it. Cutting a connection
   * that the library uses is no excuse, nor is holding up a claim; losing the handler's own commit
   * is.
   */
  boolean excusesRepetition(String detail) {
    return switch (this) {
      case KILL,
          STOP,
          SKEW,
          DATABASE_STOP,
          DATABASE_KILL,
          CUT_ALL,
          SWALLOW,
          EXHAUST,
          REFUSE,
          READ_ONLY,
          CLOSE ->
          true;
      case SWALLOW_CLAIM -> false;
      case CUT_BEFORE, CUT_AFTER -> detail.equals("COMMIT");
    };
  }
}
