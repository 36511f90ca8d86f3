package io.github.grpcidempotency.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.CompletionWatch;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class SetupTest {
  private static final Procedures GOOD =
      Procedures.of(Procedure.named("jobs/good").execution(Execution.RESERVED).build());
  private static final Procedures BAD =
      Procedures.of(
          Procedure.named("jobs/bad")
              .execution(Execution.RESERVED)
              .retention(Duration.ZERO)
              .build());

  private final StoreException unreachable =
      new StoreException("could not check the schema", new IllegalStateException("gone"));

  @Test
  void theProblemsOfDescriptorsAndStoreAreReportedTogether() {
    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(() -> check(BAD, new SetupException(List.of("no table", "no rights"))))
        .withMessage(
            """
            idempotency cannot be set up:
              jobs/bad: its retention must be at least a millisecond, not PT0S
              no table
              no rights""")
        .satisfies(
            problem ->
                assertThat(problem.problems())
                    .containsExactly(
                        "jobs/bad: its retention must be at least a millisecond, not PT0S",
                        "no table",
                        "no rights"));
  }

  @Test
  void problemsOfAStoreAreReportedUnchanged() {
    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(() -> check(GOOD, new IllegalStateException("no table")))
        .withMessage("idempotency cannot be set up:\n  no table");
  }

  @Test
  void descriptorsAreCheckedEvenWhereTheStoreCannotBeReached() {
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> check(GOOD, unreachable))
        .isSameAs(unreachable);
    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(() -> check(BAD, unreachable))
        .withMessageContaining("jobs/bad: its retention")
        .withMessageContaining("the store was not checked, because it cannot be reached");
  }

  @Test
  void aRetentionThatIsShorterThanALeaseIsAProblem() {
    Procedures shorter =
        Procedures.of(
            Procedure.named("jobs/short")
                .execution(Execution.RESERVED)
                .retention(Duration.ofSeconds(29))
                .build(),
            Procedure.named("jobs/equal")
                .execution(Execution.RESERVED)
                .retention(Duration.ofSeconds(30))
                .build());

    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(() -> check(shorter, new SetupException(List.of("no table"))))
        .satisfies(
            problem ->
                assertThat(problem.problems())
                    .containsExactly(
                        "jobs/short: its retention of PT29S is shorter than the store's lease of"
                            + " PT30S, so a record could expire while its handler runs: set a longer"
                            + " retention, or a shorter lease",
                        "no table"));
  }

  @Test
  void descriptorsAreCheckedEvenWithoutAStore() {
    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(() -> Setup.check(BAD, Optional.empty()));
    assertThatCode(() -> Setup.check(GOOD, Optional.empty())).doesNotThrowAnyException();
  }

  @Test
  void aLineOfTheLogDescribesHowTheCallsOfAProcedureAreProtected() {
    assertThat(line(KeyPolicy.OPTIONAL))
        .isEqualTo(
            "jobs/good: a call with a key is protected, a call without a key is not; execution"
                + " RESERVED; during an outage of the store, it fails open: a call with a key runs"
                + " unprotected");
    assertThat(line(KeyPolicy.REQUIRED))
        .isEqualTo(
            "jobs/good: every call is protected, and a call without a key is refused; execution"
                + " RESERVED; during an outage of the store, it fails closed: a call with a key is"
                + " refused");
    assertThat(line(KeyPolicy.HANDLER_INTERNAL))
        .isEqualTo("jobs/good: the handler deduplicates; the interceptor protects no call");
    assertThat(line(KeyPolicy.PROHIBITED))
        .isEqualTo("jobs/good: not protected; a call with a key is refused");
  }

  private static String line(KeyPolicy policy) {
    return Setup.line(
        Procedure.named("jobs/good").keyPolicy(policy).execution(Execution.RESERVED).build());
  }

  private static void check(Procedures procedures, RuntimeException verdict) {
    Setup.check(procedures, Optional.of(Stores.of(new Judging(verdict))));
  }

  /** A store that is asked nothing but whether it can be used. */
  private record Judging(RuntimeException verdict) implements IdempotencyStore {
    @Override
    public void verify(Collection<RecordedProcedure> procedures, Optional<String> shard) {
      throw verdict;
    }

    @Override
    public ClaimResult claim(ClaimRequest request) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Instant retain(ClaimRequest request, ClaimResult.Recorded recorded) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<UUID> renew(Collection<Claim> claims) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionWatch watch(Consumer<IdempotencyKey> ended) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Duration lease() {
      return Duration.ofSeconds(30);
    }
  }
}
