package io.github.grpcidempotency.postgres;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameStartingWith;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.migration.FlywayMigration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/** Which packages may depend on which. */
class LayersTest {
  private static final String API = "io.github.grpcidempotency.postgres";
  private static final String INTERNAL = API + ".internal.";

  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .importUrl(
              PostgresIdempotencyStore.class.getProtectionDomain().getCodeSource().getLocation());

  /** The internal packages. Each may use only those in front of it. */
  private static final List<String> LAYERS =
      List.of(
          "migration", "sql", "driver", "database", "claim", "transaction", "operation", "check");

  @Test
  void noPackageDependsOnAHigherLayer() {
    for (int layer = 0; layer < LAYERS.size() - 1; layer++) {
      String[] higher =
          LAYERS.stream().skip(layer + 1).map(INTERNAL::concat).toArray(String[]::new);
      noClasses()
          .that(resideInAPackage(INTERNAL + LAYERS.get(layer)))
          .should()
          .dependOnClassesThat(resideInAnyPackage(higher))
          .check(MAIN);
    }
    assertThat(packages().stream().map(JavaPackage::getName).filter(LayersTest::isInternal))
        .containsExactlyInAnyOrderElementsOf(LAYERS.stream().map(INTERNAL::concat).toList());
  }

  @Test
  void theInternalsUseNothingOfTheApiThatUsesThem() {
    noClasses()
        .that(resideInAPackage(INTERNAL + "."))
        .should()
        .dependOnClassesThat(resideInAPackage(API))
        .check(MAIN);
    noClasses()
        .that(resideInAPackage(API + ".spi"))
        .should()
        .dependOnClassesThat(resideInAnyPackage(API, INTERNAL + "."))
        .check(MAIN);
  }

  /** So a new version of the driver can affect one class only. */
  @Test
  void onlyOneClassUsesTheDriversOwnClasses() {
    noClasses()
        .that(not(belongToAnyOf(Driver.class)))
        .should()
        .dependOnClassesThat(resideInAnyPackage("org.postgresql.core..", "org.postgresql.jdbc.."))
        .check(MAIN);
  }

  @Test
  void theStoreDoesNotDependOnGrpc() {
    noClasses().should().dependOnClassesThat(resideInAPackage("io.grpc..")).check(MAIN);
  }

  /** The pool is the host's choice. */
  @Test
  void onlyOneClassOfTheStoreDependsOnHikari() {
    noClasses()
        .that(
            not(
                belongToAnyOf(EvictReadOnly.class)
                    .or(nameStartingWith(INTERNAL + "database.HikariPools"))))
        .should()
        .dependOnClassesThat(
            resideInAPackage("com.zaxxer..").or(belongToAnyOf(EvictReadOnly.class)))
        .check(MAIN);
  }

  /** A host may leave Flyway out. */
  @Test
  void onlyOneClassDependsOnFlyway() {
    noClasses()
        .that(not(belongToAnyOf(FlywayMigration.class)))
        .should()
        .dependOnClassesThat(resideInAPackage("org.flywaydb.."))
        .check(MAIN);
  }

  /** The store uses its parts; none of them uses the store. The sweeper uses its connections. */
  @Test
  void noPartOfTheStoreDependsOnTheStore() {
    noClasses()
        .that(
            not(
                belongToAnyOf(
                    PostgresIdempotencyStore.class, PostgresStore.class, ExpirySweeper.class)))
        .should()
        .dependOnClassesThat(belongToAnyOf(PostgresIdempotencyStore.class))
        .check(MAIN);
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
    assertThat(packages())
        .allSatisfy(
            each -> {
              assertThat(each.tryGetPackageInfo()).as(each.getName()).isPresent();
              assertThat(each.isAnnotatedWith(NullMarked.class)).as(each.getName()).isTrue();
            });
  }

  private static Set<JavaPackage> packages() {
    return MAIN.stream().map(JavaClass::getPackage).collect(Collectors.toSet());
  }

  private static boolean isInternal(String name) {
    return name.startsWith(INTERNAL);
  }
}
