package io.github.grpcidempotency.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResourceTypeTest {
  @Test
  void theNameIsTheStemOfItsColumn() {
    assertThat(ResourceType.of("node_pool").column()).isEqualTo("node_pool_id");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Thing", "1thing", "a thing", "thing;", "_thing", "\"thing\""})
  void aNameThatIsNotALowerCaseIdentifierIsRefused(String name) {
    assertThatIllegalArgumentException().isThrownBy(() -> ResourceType.of(name));
  }

  @Test
  void theColumnFitsIntoPostgres() {
    assertThat(ResourceType.of("a".repeat(60)).column()).hasSize(63);
    assertThatIllegalArgumentException().isThrownBy(() -> ResourceType.of("a".repeat(61)));
  }
}
