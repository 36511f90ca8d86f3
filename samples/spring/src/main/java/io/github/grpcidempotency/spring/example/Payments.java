package io.github.grpcidempotency.spring.example;

import io.github.grpcidempotency.postgres.TransactionalCompletion;
import io.github.grpcidempotency.spring.example.shop.v1.Payment;
import java.util.UUID;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The ledger, by {@link JdbcTemplate}. */
@Service
class Payments {
  private final JdbcTemplate jdbc;

  Payments(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /** Books a payment, and records the answer of the call in the same commit. */
  @Transactional
  void book(Payment payment, int cents) {
    jdbc.update(
        "INSERT INTO shop.payments (id, order_id, cents, charge) VALUES (?, ?, ?, ?)",
        UUID.fromString(payment.getId()),
        UUID.fromString(payment.getOrderId()),
        cents,
        payment.getCharge());
    TransactionalCompletion.complete(payment);
  }
}
