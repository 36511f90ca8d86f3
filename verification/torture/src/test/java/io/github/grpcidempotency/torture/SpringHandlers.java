package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.postgres.TransactionalCompletion;
import io.github.grpcidempotency.spring.SpringTransactions;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;

/** Those of Spring: what handlers call is transactional, and writes by a template. */
class SpringHandlers implements HandlerTransactions {
  private final String server;
  private final PlatformTransactionManager manager;
  private final DataSource pool;
  private final NamedParameterJdbcTemplate jdbc;
  private final PlainTransactions own;

  SpringHandlers(String server, PlatformTransactionManager manager, DataSource pool) {
    this.server = server;
    this.manager = manager;
    this.pool = pool;
    this.jdbc = new NamedParameterJdbcTemplate(pool);
    this.own = new PlainTransactions(server, pool);
  }

  /** Starts Spring, for as long as the process lives. */
  static HandlerTransactions start(String server, DataSource pool) {
    AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    context.registerBean("server", String.class, () -> server);
    context.registerBean("pool", DataSource.class, () -> pool);
    context.register(Beans.class);
    context.refresh();
    return context.getBean(HandlerTransactions.class);
  }

  @Override
  public void configure(PostgresIdempotencyStore.Builder store) {
    store.hostTransactions(SpringTransactions.of(manager, pool));
  }

  @Override
  @Transactional
  public void write(EffectRun run, Rest rest) {
    if (run.way() == Way.AT_COMMIT_AFTER_A_FAILURE) {
      fail();
      HandlerTransactions.unlessFailed(() -> insert(run));
    } else {
      insert(run);
    }
    rest.run();
  }

  private void fail() {
    try {
      jdbc.getJdbcOperations().execute("SELECT 1 / 0");
    } catch (DataAccessException asWanted) {
      // a handler need not mind
    }
  }

  @Override
  public void join(EffectRun run, Rest rest) {
    own.join(run, rest);
  }

  @Override
  @Transactional
  public void beside(EffectRun run, Rest rest) {
    insert(run);
    rest.run();
  }

  @Override
  @Transactional
  public void inVain(EffectRun run, boolean locks, Rest rest) {
    if (locks) {
      jdbc.getJdbcOperations().execute((ConnectionCallback<?>) SpringHandlers::lock);
    }
    insert(run);
    TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
    rest.run();
  }

  @Override
  public boolean areOfHost() {
    return true;
  }

  private void insert(EffectRun run) {
    jdbc.update(run.insert(), run.parameters(server));
  }

  private static boolean lock(Connection connection) throws SQLException {
    TransactionalCompletion.lock(connection);
    return true;
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement
  static class Beans {
    @Bean
    JdbcTransactionManager transactionManager(DataSource pool) {
      return new JdbcTransactionManager(pool);
    }

    @Bean
    HandlerTransactions handlers(
        String server, PlatformTransactionManager transactionManager, DataSource pool) {
      return new SpringHandlers(server, transactionManager, pool);
    }
  }
}
