package io.github.grpcidempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.lettuce.core.cluster.SlotHash;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class RecordKeyTest {
  private static final Caller USER =
      Caller.of(UUID.fromString("0189a28e-4530-7851-817c-a01c0b249c17"));

  private final RecordKey names = new RecordKey("idempotency");

  @Test
  void aNameIsThePrefixAndTheKeyWithItsCaller() {
    assertThat(names.nameOf(new IdempotencyKey(USER.inTenant("acme"), "k")))
        .isEqualTo("idempotency:{0189a28e-4530-7851-817c-a01c0b249c17:acme/:k}");
  }

  @Test
  void operationsThatDifferHaveNamesThatDiffer() {
    Caller other = Caller.of(UUID.randomUUID());
    List<IdempotencyKey> keys =
        List.of(
            new IdempotencyKey(USER, "k"),
            new IdempotencyKey(USER, ":k"),
            new IdempotencyKey(USER, "acme/-:k"),
            new IdempotencyKey(USER.inTenant("acme"), "k"),
            new IdempotencyKey(USER.inTenant("acme").inProject("x"), "k"),
            new IdempotencyKey(USER.inTenant("acme/x"), "k"),
            new IdempotencyKey(USER.inTenant("acme"), "x:k"),
            new IdempotencyKey(USER.inTenant("acme").inProject("x:k"), "k"),
            new IdempotencyKey(USER.inProject("acme"), "k"),
            new IdempotencyKey(USER, "k}"),
            new IdempotencyKey(USER, "{k}"),
            new IdempotencyKey(other, "k"));

    assertThat(keys.stream().map(names::nameOf)).doesNotHaveDuplicates();
  }

  /** A cluster hashes what is between the first braces; nothing else of an operation is hashed. */
  @Test
  void theSlotOfAnOperationIsThatOfItsUserAndKeyWhateverThePrefix() {
    IdempotencyKey key = new IdempotencyKey(USER, "k");

    assertThat(SlotHash.getSlot(names.nameOf(key)))
        .isEqualTo(SlotHash.getSlot(new RecordKey("other").nameOf(key)))
        .isEqualTo(SlotHash.getSlot(USER.userId() + ":/:k"));
  }
}
