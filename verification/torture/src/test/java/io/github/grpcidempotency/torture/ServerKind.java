package io.github.grpcidempotency.torture;

import java.util.function.Supplier;
import javax.sql.DataSource;

/** What a server is built with. */
enum ServerKind {
  /** The library, and nothing else. */
  PLAIN {
    @Override
    Host start(String server, String jdbcUrl, ServerLife life, Supplier<? extends DataSource> own) {
      DataSource pool = own.get();
      return new Host(pool, new PlainTransactions(server, pool));
    }
  },
  /** A Spring context, whose transactions are those of claims and handlers. */
  SPRING {
    @Override
    Host start(String server, String jdbcUrl, ServerLife life, Supplier<? extends DataSource> own) {
      DataSource pool = own.get();
      return new Host(pool, SpringHandlers.start(server, pool));
    }
  },
  /** A Jakarta transaction manager, and a pool whose connections join its transactions. */
  JTA {
    @Override
    Host start(String server, String jdbcUrl, ServerLife life, Supplier<? extends DataSource> own) {
      return JtaHandlers.start(server, jdbcUrl, life);
    }
  };

  /**
   * What a server has of its kind.
   *
   * @param pool the pool that handlers and the store use
   * @param transactions how handlers write
   */
  record Host(DataSource pool, HandlerTransactions transactions) {}

  /**
   * Returns what a server has of its kind.
   *
   * @param own makes the pool of a host that does not bring one
   */
  abstract Host start(
      String server, String jdbcUrl, ServerLife life, Supplier<? extends DataSource> own);
}
