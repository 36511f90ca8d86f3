package io.github.grpcidempotency.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableTest {
  private final Table table =
      new Table(
          Table.Column.fixed("OPERATION"),
          new Table.Column("PROCEDURE", 1, 14),
          new Table.Column("SERVER", 2, 8),
          new Table.Column("USER", 3, 0));

  @Test
  void aTableThatFitsIsWrittenInFull() {
    table.add("1", "orders.v1.OrderService/CreateOrder", "host:1", "ada");

    assertThat(table.lines(120))
        .containsExactly(
            "OPERATION  PROCEDURE                           SERVER  USER",
            "1          orders.v1.OrderService/CreateOrder  host:1  ada");
  }

  @ParameterizedTest
  @ValueSource(ints = {80, 100, 120, 160})
  void noLineIsWiderThanTheTerminal(int width) {
    table.add(
        "0".repeat(36),
        "a.very.long.package.name.v1.OrderService/CreateOrder",
        "h".repeat(60),
        "u".repeat(36));
    table.add("0".repeat(36), "日本語".repeat(20), "é".repeat(60), "");

    assertThat(table.lines(width)).allMatch(line -> TextWidth.of(line) <= width);
  }

  @Test
  void theEndOfAProcedureIsWhatStays() {
    table.add("0".repeat(36), "a.very.long.package.name.v1.OrderService/CreateOrder", "host:1", "");

    assertThat(table.lines(80).get(1)).contains("…", "OrderService/CreateOrder  host:1");
  }

  @Test
  void theColumnsThatMatterLeastAreLeftOut() {
    table.add("0".repeat(36), "orders.v1.OrderService/CreateOrder", "host:1", "u".repeat(36));

    assertThat(table.lines(80).get(0)).contains("SERVER").doesNotContain("USER");
  }

  @Test
  void namesCannotControlTheTerminal() {
    table.add("1", "\u001b[2J\nrm", "\u202eevil", "\u0007");

    List<String> lines = table.lines(120);

    assertThat(lines).hasSize(2);
    assertThat(lines.get(1)).contains("\\u001b[2J\\u000arm", "\\u202eevil", "\\u0007");
  }
}
