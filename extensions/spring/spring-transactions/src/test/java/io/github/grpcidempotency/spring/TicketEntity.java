package io.github.grpcidempotency.spring;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.SequenceGenerator;
import jakarta.persistence.Table;

/** A ticket, for whose id Hibernate asks a sequence before it inserts. */
@Entity
@Table(schema = "app", name = "tickets")
class TicketEntity {
  @Id
  @GeneratedValue(strategy = GenerationType.SEQUENCE)
  @SequenceGenerator(schema = "app", sequenceName = "ticket_ids", allocationSize = 1)
  private long id;

  TicketEntity() {}

  long id() {
    return id;
  }
}
