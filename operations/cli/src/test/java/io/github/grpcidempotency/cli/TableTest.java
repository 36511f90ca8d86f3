package io.github.grpcidempotency.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TableTest {
  private final Table table = new Table("OPERATION", "SERVER", "PROCEDURE");

  @Test
  void aColumnIsAsWideAsItsWidestCell() {
    table.add("1", "host-17:1", "orders.v1.OrderService/CreateOrder");

    assertThat(table.lines())
        .containsExactly(
            "OPERATION  SERVER     PROCEDURE",
            "1          host-17:1  orders.v1.OrderService/CreateOrder");
  }

  @Test
  void namesCannotControlTheTerminal() {
    table.add("\u001b[2J\nrm", "\u202eevil", "\u0007");

    assertThat(table.lines()).hasSize(2);
    assertThat(table.lines().get(1)).contains("\\u001b[2J\\u000arm", "\\u202eevil", "\\u0007");
  }
}
