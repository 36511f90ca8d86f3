package io.github.grpcidempotency.spring.example;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;

/** Work for an order that another process executes. */
@Entity
@Table(schema = "shop", name = "outbox")
class OutboxEntry {
  @Id
  @GeneratedValue(strategy = GenerationType.IDENTITY)
  private Long id;

  @ManyToOne(optional = false)
  @JoinColumn(name = "order_id")
  @SuppressWarnings("UnusedVariable") // JPA reads it
  private CustomerOrder order;

  @SuppressWarnings("NullAway.Init") // JPA fills it
  protected OutboxEntry() {}

  @SuppressWarnings("NullAway.Init") // JPA generates the id
  OutboxEntry(CustomerOrder order) {
    this.order = order;
  }
}
