package io.github.grpcidempotency.torture;

/** The ways to break things. */
enum FaultKind {
  /** A server dies by SIGKILL and is started again. */
  KILL,
  /** A server is stopped by SIGSTOP for longer than a lease, and goes on. */
  STOP,
  /** A server is killed and started again with a clock that is an hour off. */
  SKEW,
  /** PostgreSQL is stopped immediately (SIGQUIT to the postmaster). */
  DATABASE_STOP,
  /** The postmaster dies by SIGKILL. */
  DATABASE_KILL,
  /** A server's connection is cut before a statement reaches the database. */
  CUT_BEFORE,
  /** A server's connection is cut when the database has run a statement, before it answers. */
  CUT_AFTER,
  /** All connections of a server are cut. */
  CUT_ALL,
  /** Nothing passes between a server and the database, without any error. */
  SWALLOW,
  /**
   * A claim, or the answer to one, is delayed for longer than a lease, and then forwarded, or the
   * connection is cut.
   */
  SWALLOW_CLAIM,
  /** A server's pool has no connection left. */
  EXHAUST,
  /** A server gets no connection to the database, and loses those that it has. */
  REFUSE,
  /** The database is read-only, for open connections or for all. */
  READ_ONLY,
  /** A server is shut down properly, while calls wait, and is started again. */
  CLOSE,
  /**
   * A server loses its connections and may not log in again, while those of the others live on. The
   * database is there, and says so.
   */
  REFUSE_LOGINS,
  /** Another node becomes the primary, in good order. */
  SWITCHOVER,
  /** The primary's postmaster dies by SIGKILL, and another node takes over. */
  PRIMARY_KILL,
  /** All of the primary's node stands still until another one has taken over, and goes on. */
  PRIMARY_FREEZE,
  /**
   * The primary's manager stands still; another node takes over while the old primary still takes
   * connections.
   */
  MANAGER_FREEZE,
  /** No replica is sent anything for a while, and the primary dies then. */
  LAGGING_REPLICAS;

  /** Whether calls go on beside it. */
  boolean isLight() {
    return this == CUT_BEFORE || this == CUT_AFTER || this == CUT_ALL || this == SWALLOW_CLAIM;
  }

  /** Whether it affects the database, not one server. */
  boolean isOfDatabase() {
    return this == DATABASE_STOP || this == DATABASE_KILL || this == READ_ONLY || isFailover();
  }

  /** Whether another node becomes the primary. */
  boolean isFailover() {
    return switch (this) {
      case SWITCHOVER, PRIMARY_KILL, PRIMARY_FREEZE, MANAGER_FREEZE, LAGGING_REPLICAS -> true;
      case KILL,
          STOP,
          SKEW,
          DATABASE_STOP,
          DATABASE_KILL,
          CUT_BEFORE,
          CUT_AFTER,
          CUT_ALL,
          SWALLOW,
          SWALLOW_CLAIM,
          EXHAUST,
          REFUSE,
          READ_ONLY,
          CLOSE,
          REFUSE_LOGINS ->
          false;
    };
  }

  /** Whether it breaks what passes between a server and the database. */
  boolean needsProxy() {
    return isLight() || this == SWALLOW || this == REFUSE || this == REFUSE_LOGINS;
  }

  /** Whether a server cannot connect to the database while it lasts. */
  boolean preventsConnections() {
    return this == DATABASE_STOP
        || this == DATABASE_KILL
        || this == REFUSE
        || this == SWALLOW
        || isFailover();
  }

  /**
   * Whether a handler without a joined record may have to run again after it. Cutting a connection
   * that the library uses is not an excuse, nor is delaying a claim. Losing the handler's own
   * commit is one.
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
          CLOSE,
          REFUSE_LOGINS,
          SWITCHOVER,
          PRIMARY_KILL,
          PRIMARY_FREEZE,
          MANAGER_FREEZE,
          LAGGING_REPLICAS ->
          true;
      case SWALLOW_CLAIM -> false;
      case CUT_BEFORE, CUT_AFTER -> detail.equals("COMMIT");
    };
  }
}
