package io.github.grpcidempotency.spring.example;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Orders, by JPA. */
@Service
class Orders {
  private final OrderRepository orders;
  private final OutboxRepository outbox;

  Orders(OrderRepository orders, OutboxRepository outbox) {
    this.orders = orders;
    this.outbox = outbox;
  }

  /** Joins the transaction of the call, as all transactional code here does. */
  @Transactional
  CustomerOrder place(String item) {
    CustomerOrder order = orders.save(new CustomerOrder(item));
    outbox.save(new OutboxEntry(order));
    return order;
  }
}
