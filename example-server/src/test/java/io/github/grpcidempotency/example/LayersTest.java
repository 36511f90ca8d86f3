package io.github.grpcidempotency.example;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

/**
 * Which package may use which: the service depends on no other, and only the demo knows its story.
 */
class LayersTest {
  private static final String ROOT = "io.github.grpcidempotency.example";
  private static final String SERVICE = ROOT + ".service..";
  private static final String RUN = ROOT + ".run..";
  private static final String DEMO = ROOT + ".demo..";

  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .importUrl(Example.class.getProtectionDomain().getCodeSource().getLocation());

  @Test
  void theServiceDependsNeitherOnItsRunnerNorOnTheDemo() {
    noClasses()
        .that()
        .resideInAPackage(SERVICE)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(ROOT, RUN, DEMO)
        .check(MAIN);
  }

  @Test
  void theRunnerDoesNotDependOnTheDemo() {
    noClasses()
        .that()
        .resideInAPackage(RUN)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(ROOT, DEMO)
        .check(MAIN);
  }

  @Test
  void onlyTheDemoIsAClient() {
    noClasses()
        .that()
        .resideOutsideOfPackage(DEMO)
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.github.grpcidempotency.client..")
        .check(MAIN);
  }

  @Test
  void theServiceNeedsNeitherACommandLineNorAnEmbeddedDatabase() {
    noClasses()
        .that()
        .resideInAPackage(SERVICE)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("picocli..", "io.zonky..", "com.zaxxer..", "com.google.crypto..")
        .check(MAIN);
  }

  @Test
  void packagesOfTheServiceHaveNoCycles() {
    slices().matching(ROOT + ".service.(*)..").should().beFreeOfCycles().check(MAIN);
  }
}
