package io.github.grpcidempotency.spring;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.UUID;

/** A thing, whose INSERT Hibernate holds back until it has to flush. */
@Entity
@Table(schema = "app", name = "things")
class ThingEntity {
  @Id private UUID id = new UUID(0, 0);
  private String name = "";

  ThingEntity() {}

  ThingEntity(UUID id, String name) {
    this.id = id;
    this.name = name;
  }

  UUID id() {
    return id;
  }

  String name() {
    return name;
  }
}
