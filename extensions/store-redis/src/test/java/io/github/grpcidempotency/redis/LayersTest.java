package io.github.grpcidempotency.redis;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

class LayersTest {
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .importUrl(
              RedisIdempotencyStore.class.getProtectionDomain().getCodeSource().getLocation());

  @Test
  void theStoreDoesNotDependOnGrpc() {
    noClasses().should().dependOnClassesThat().resideInAPackage("io.grpc..").check(MAIN);
  }

  /** The store uses its parts; none of them uses the store. */
  @Test
  void noClassOfThePackageDependsOnTheStore() {
    noClasses()
        .that()
        .doNotBelongToAnyOf(RedisIdempotencyStore.class)
        .should()
        .dependOnClassesThat()
        .belongToAnyOf(RedisIdempotencyStore.class)
        .check(MAIN);
  }

  @Test
  void thePackageIsDescribedAndNullMarked() {
    JavaPackage itsPackage = MAIN.get(RedisIdempotencyStore.class).getPackage();

    assertThat(itsPackage.tryGetPackageInfo()).isPresent();
    assertThat(itsPackage.isAnnotatedWith(NullMarked.class)).isTrue();
  }
}
