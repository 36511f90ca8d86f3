package io.github.grpcidempotency.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.proto.WireNames;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Clients know reasons by the names that the wire contract lists. */
class WireNamesTest {
  @Test
  void everyReasonOfARefusalIsListedAndNoOther() throws IllegalAccessException {
    List<String> listed = new ArrayList<>();
    for (Field constant : WireNames.class.getFields()) {
      String value = (String) constant.get(null);
      if (value.startsWith("IDEMPOTENCY_")) {
        assertThat(value).isEqualTo("IDEMPOTENCY_" + constant.getName());
        listed.add(value);
      }
    }

    assertThat(listed)
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(RefusalReason.values()).map(RefusalReason::wireName).toList());
  }
}
