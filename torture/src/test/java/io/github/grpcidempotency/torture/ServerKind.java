package io.github.grpcidempotency.torture;

import javax.sql.DataSource;

/** What a server is built with. */
enum ServerKind {
  /** The library, and nothing else. */
  PLAIN {
    @Override
    HandlerTransactions transactions(String server, DataSource pool) {
      return new PlainTransactions(server, pool);
    }
  },
  /** A Spring context, whose transactions are those of claims and handlers. */
  SPRING {
    @Override
    HandlerTransactions transactions(String server, DataSource pool) {
      return SpringHandlers.start(server, pool);
    }
  };

  /**
   * Returns how the handlers of a server write.
   *
   * @param pool the pool that they and the store use
   */
  abstract HandlerTransactions transactions(String server, DataSource pool);
}
