package io.github.grpcidempotency.spring.example;

import io.github.grpcidempotency.postgres.TransactionalCompletion;
import io.github.grpcidempotency.spring.example.shop.v1.Payment;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.stereotype.Service;

/** The ledger, by {@link JdbcTemplate}. */
@Service
class Payments {
  private final DataSource pool;

  Payments(DataSource pool) {
    this.pool = pool;
  }

  /** Books a payment, and records the answer of the call in the same commit. */
  void book(Payment payment, int cents) {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      new JdbcTemplate(new SingleConnectionDataSource(connection, true))
          .update(
              "INSERT INTO shop.payments (id, order_id, cents, charge) VALUES (?, ?, ?, ?)",
              UUID.fromString(payment.getId()),
              UUID.fromString(payment.getOrderId()),
              cents,
              payment.getCharge());
      TransactionalCompletion.completeAndCommit(connection, payment);
    } catch (SQLException failure) {
      throw new IllegalStateException("could not book the payment", failure);
    }
  }
}
