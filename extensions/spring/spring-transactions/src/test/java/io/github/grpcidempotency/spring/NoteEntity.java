package io.github.grpcidempotency.spring;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** A note, whose INSERT Hibernate sends at once, because its id comes from that. */
@Entity
@Table(schema = "app", name = "notes")
class NoteEntity {
  @Id
  @GeneratedValue(strategy = GenerationType.IDENTITY)
  private long id;

  private String text = "";

  NoteEntity() {}

  NoteEntity(String text) {
    this.text = text;
  }

  long id() {
    return id;
  }

  String text() {
    return text;
  }
}
