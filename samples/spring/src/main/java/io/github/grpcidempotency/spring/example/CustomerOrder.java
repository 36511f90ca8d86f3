package io.github.grpcidempotency.spring.example;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.UUID;
import org.hibernate.annotations.UuidGenerator;

/** An order. JPA inserts it at the commit, or at an earlier flush. */
@Entity
@Table(schema = "shop", name = "orders")
class CustomerOrder {
  @Id
  @GeneratedValue
  @UuidGenerator(style = UuidGenerator.Style.VERSION_7)
  private UUID id;

  private String item;

  @SuppressWarnings("NullAway.Init") // JPA fills it
  protected CustomerOrder() {}

  @SuppressWarnings("NullAway.Init") // JPA generates the id
  CustomerOrder(String item) {
    this.item = item;
  }

  UUID id() {
    return id;
  }

  String item() {
    return item;
  }
}
