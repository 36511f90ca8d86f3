package io.github.grpcidempotency.postgres;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.github.grpcidempotency.postgres.internal.migration.FlywayMigration;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

class LayersTest {
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .importUrl(
              PostgresIdempotencyStore.class.getProtectionDomain().getCodeSource().getLocation());

  /** jOOQ's threads take the gRPC context of a call along. */
  @Test
  void theStoreDependsNeitherOnGrpcNorOnJooq() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.github.grpcidempotency.postgres.jooq")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.grpc..", "org.jooq..", "io.github.grpcidempotency.postgres.jooq")
        .check(MAIN);
  }

  /** A host may leave Flyway out. */
  @Test
  void onlyOneClassDependsOnFlyway() {
    noClasses()
        .that()
        .doNotBelongToAnyOf(FlywayMigration.class)
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.flywaydb..")
        .check(MAIN);
  }

  /** The store uses its parts; none of them uses the store. */
  @Test
  void noClassOfThePackageDependsOnTheStore() {
    noClasses()
        .that()
        .doNotBelongToAnyOf(PostgresIdempotencyStore.class)
        .should()
        .dependOnClassesThat()
        .belongToAnyOf(PostgresIdempotencyStore.class)
        .check(MAIN);
  }

  @Test
  void thePackageIsDescribedAndNullMarked() {
    JavaPackage itsPackage = MAIN.get(PostgresIdempotencyStore.class).getPackage();

    assertThat(itsPackage.tryGetPackageInfo()).isPresent();
    assertThat(itsPackage.isAnnotatedWith(NullMarked.class)).isTrue();
  }
}
