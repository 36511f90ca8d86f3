package io.github.grpcidempotency.procedure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.grpcidempotency.testing.v1.MisdescribedServiceGrpc;
import io.grpc.ServiceDescriptor;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names for retentions: three by custom, and those of the host. */
class RetentionClassTest {
  private static final RetentionClass AUDIT = new RetentionClass("audit", Duration.ofDays(365));
  private static final ServiceDescriptor SERVICE = MisdescribedServiceGrpc.getServiceDescriptor();
  private static final String AUDITED =
      MisdescribedServiceGrpc.getAuditedMethod().getFullMethodName();

  @Test
  void anOptionMayNameAClassOfTheHost() {
    Procedure procedure =
        Procedure.annotated(
                MisdescribedServiceGrpc.getAuditedMethod(), RetentionClasses.presets().with(AUDIT))
            .execution(Execution.RESERVED)
            .build();

    assertThat(procedure.retention()).isEqualTo(Duration.ofDays(365));
    assertThat(Procedures.of(procedure).problems()).isEmpty();
  }

  @Test
  void aServicesOptionsMayNameItWhereverItIsDefined() {
    RetentionClasses classes = RetentionClasses.of(AUDIT);
    Procedures before =
        Procedures.builder()
            .retentionClasses(classes)
            .addAnnotated(SERVICE)
            .defaultExecution(method -> Optional.of(Execution.RESERVED))
            .build();
    Procedures after =
        Procedures.builder()
            .addAnnotated(SERVICE)
            .defaultExecution(method -> Optional.of(Execution.RESERVED))
            .retentionClasses(classes)
            .build();

    assertThat(before.find(AUDITED).map(Procedure::retention)).contains(Duration.ofDays(365));
    assertThat(after.find(AUDITED).map(Procedure::retention)).contains(Duration.ofDays(365));
  }

  @Test
  void aNameThatIsNotKnownIsAProblemThatListsThoseThatAre() {
    RetentionClasses others =
        RetentionClasses.of(
            new RetentionClass("weekly", Duration.ofDays(7)), RetentionClass.FINANCIAL);

    assertThat(
            Procedure.annotated(MisdescribedServiceGrpc.getAuditedMethod(), others)
                .execution(Execution.RESERVED)
                .build()
                .problems())
        .containsExactly(
            "retention_class \"audit\" is unknown; the known classes are financial," + " weekly");
  }

  @Test
  void theHostMayGiveAPresetsNameAnotherMeaning() {
    RetentionClass longer = new RetentionClass("financial", Duration.ofDays(90));

    assertThat(RetentionClasses.of(longer).find("financial")).contains(longer);
    assertThat(RetentionClasses.of(longer).find("webhook")).isEmpty();
  }

  @Test
  void twoClassesOfOneNameAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                RetentionClasses.presets()
                    .with(new RetentionClass("financial", Duration.ofDays(90))))
        .withMessage("two retention classes have the name \"financial\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Audit", "1st", "a b", "ä"})
  void aNameIsLowerCase(String name) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RetentionClass(name, Duration.ofDays(1)))
        .withMessageContaining("[a-z0-9_-]");
  }

  @Test
  void aDurationIsARetention() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RetentionClass("never", Duration.ZERO))
        .withMessage(
            "the retention class \"never\": its retention must be at least a millisecond, not"
                + " PT0S");
  }
}
