package io.github.grpcidempotency.spring.example;

import com.github.f4b6a3.uuid.UuidCreator;
import java.util.UUID;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Shipments, by {@link JdbcTemplate}. */
@Service
class Shipments {
  private final JdbcTemplate jdbc;

  Shipments(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  /**
   * Ships an order.
   *
   * @return the shipment's id
   * @throws NotToBeShippedException if there is no such order, or it is shipped already
   */
  @Transactional
  UUID ship(UUID order) {
    UUID id = UuidCreator.getTimeOrderedEpoch();
    jdbc.update("INSERT INTO shop.shipments (id, order_id) VALUES (?, ?)", id, order);
    if (jdbc.update("UPDATE shop.orders SET shipped = true WHERE id = ? AND NOT shipped", order)
        == 0) {
      throw new NotToBeShippedException(order);
    }
    return id;
  }
}
