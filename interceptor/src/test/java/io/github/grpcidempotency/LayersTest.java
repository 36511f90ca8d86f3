package io.github.grpcidempotency;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.implement;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.rpc.Code;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.github.grpcidempotency.call.internal.Answer;
import io.github.grpcidempotency.call.internal.Transport;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.internal.decision.ClaimDecider;
import io.github.grpcidempotency.internal.decision.OutcomeDecider;
import io.github.grpcidempotency.internal.settling.OwnedClaim;
import io.github.grpcidempotency.internal.settling.Settler;
import io.github.grpcidempotency.internal.waiting.InFlightWaiter;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** Which packages may depend on which. */
class LayersTest {
  private static final String ROOT = "io.github.grpcidempotency";

  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .importUrl(
              IdempotencyInterceptor.class.getProtectionDomain().getCodeSource().getLocation());

  @Test
  void decisionsDependOnlyOnKeysProceduresAndTheResultsOfAStore() {
    classes()
        .that(resideInAPackage(ROOT + ".internal.decision"))
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(
                    "java..",
                    ROOT + ".internal.decision",
                    ROOT + ".event",
                    ROOT + ".key",
                    "org.jspecify..")
                .or(
                    belongToAnyOf(
                        Claim.class,
                        ClaimResult.class,
                        FailureCause.class,
                        FailurePhase.class,
                        FailurePolicy.class,
                        KeyPolicy.class,
                        OutagePolicy.class,
                        Procedure.class,
                        StoreException.class,
                        Code.class)))
        .check(MAIN);
  }

  @Test
  void onlyThePackagesForGrpcDependOnGrpc() {
    noClasses()
        .that(
            resideInAPackage(ROOT + "..")
                .and(
                    not(
                        resideInAnyPackage(
                            ROOT + ".grpc..",
                            ROOT + ".client",
                            ROOT + ".internal.context",
                            ROOT + ".procedure.internal",
                            ROOT + ".procedure"))))
        .should()
        .dependOnClassesThat(resideInAPackage("io.grpc.."))
        .check(MAIN);
  }

  /** So gRPC and work without gRPC cannot differ in what they do with a claim. */
  @Test
  void aTransportDecidesNothing() {
    noClasses()
        .that(implement(Transport.class).or(implement(Answer.class)))
        .should()
        .dependOnClassesThat(
            belongToAnyOf(
                Claim.class,
                ClaimResult.class,
                ClaimDecider.class,
                OutcomeDecider.class,
                OwnedClaim.class,
                Settler.class,
                InFlightWaiter.class))
        .check(MAIN);
  }

  @Test
  void theMachineDependsOnNoTransport() {
    noClasses()
        .that(resideInAPackage(ROOT + ".call.internal"))
        .should()
        .dependOnClassesThat(resideInAnyPackage(ROOT + ".grpc..", ROOT + ".work"))
        .check(MAIN);
  }

  @Test
  void proceduresDependOnNothingOfGrpcButDescriptors() {
    noClasses()
        .that(resideInAPackage(ROOT + ".procedure"))
        .should()
        .dependOnClassesThat(
            resideInAPackage("io.grpc..")
                .and(
                    not(
                        belongToAnyOf(
                            MethodDescriptor.class,
                            MethodDescriptor.MethodType.class,
                            ServiceDescriptor.class))))
        .check(MAIN);
  }

  @Test
  void theStoreInterfaceDoesNotDependOnTheRunningCall() {
    noClasses()
        .that(resideInAnyPackage(ROOT + ".store", ROOT + ".spi"))
        .should()
        .dependOnClassesThat(
            resideInAnyPackage(
                ROOT + ".call.internal",
                ROOT + ".internal.decision",
                ROOT + ".internal.record",
                ROOT + ".internal.engine",
                ROOT + ".internal.settling",
                ROOT + ".internal.waiting",
                ROOT + ".internal.context",
                ROOT + ".grpc"))
        .check(MAIN);
  }

  /** All but the exception, whose SQLSTATE is logged. */
  @Test
  void nothingDependsOnADatabase() {
    noClasses()
        .should()
        .dependOnClassesThat(
            resideInAnyPackage(
                    "java.sql..",
                    "javax.sql..",
                    "org.postgresql..",
                    "org.jdbi..",
                    "org.flywaydb..",
                    "com.zaxxer..")
                .and(not(belongToAnyOf(SQLException.class))))
        .check(MAIN);
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching(ROOT + ".(**)").should().beFreeOfCycles().check(MAIN);
  }

  @Test
  void everyPackageFitsOnOneScreen() {
    Map<String, Long> sizes =
        MAIN.stream()
            .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
            .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));

    assertThat(sizes.values()).allSatisfy(size -> assertThat(size).isLessThanOrEqualTo(20));
  }

  @Test
  void everyPackageIsDescribedAndNullMarked() {
    Set<JavaPackage> packages =
        MAIN.stream().map(type -> type.getPackage()).collect(Collectors.toSet());

    assertThat(packages)
        .hasSizeGreaterThanOrEqualTo(6)
        .allSatisfy(
            each -> {
              assertThat(each.tryGetPackageInfo()).as(each.getName()).isPresent();
              assertThat(each.isAnnotatedWith(NullMarked.class)).as(each.getName()).isTrue();
            });
  }
}
