package io.github.grpcidempotency.spring;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** A name that only one may have. */
@Entity
@Table(schema = "app", name = "names")
class NameEntity {
  @Id private String name = "";

  NameEntity() {}

  NameEntity(String name) {
    this.name = name;
  }

  String name() {
    return name;
  }
}
