package io.github.grpcidempotency.pages;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.github.grpcidempotency.test.NeedsProgram;
import io.github.grpcidempotency.test.Program;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExecutionCondition;

/** The tests of every module that is compiled find out in one place which programs there are. */
class ProgramsTest {
  private static final JavaClasses TESTS = new ClassFileImporter().importPaths(folders());

  @Test
  void onlyOneClassStartsPrograms() {
    assertThat(TESTS).hasSizeGreaterThan(100);
    noClasses()
        .that()
        .doNotBelongToAnyOf(Program.class)
        .should()
        .callCodeUnitWhere(calls(ProcessBuilder.class, "<init>"))
        .orShould()
        .callCodeUnitWhere(calls(Runtime.class, "exec"))
        .check(TESTS);
  }

  @Test
  void onlyOneClassLooksForPrograms() {
    noClasses()
        .that()
        .doNotBelongToAnyOf(Program.class)
        .should()
        .callCodeUnitWhere(calls(Files.class, "isExecutable"))
        .orShould()
        .callCodeUnitWhere(calls(File.class, "canExecute"))
        .check(TESTS);
  }

  @Test
  void onlyOneConditionSkipsTests() {
    noClasses()
        .that()
        .doNotBelongToAnyOf(NeedsProgram.class)
        .should()
        .beAssignableTo(ExecutionCondition.class)
        .orShould()
        .dependOnClassesThat()
        .resideInAPackage("org.junit.jupiter.api.condition")
        .check(TESTS);
  }

  @Test
  void continuousIntegrationHidesEveryProgramThatATestNeeds() throws IOException {
    String script = Files.readString(RepositoryRoot.resolve(".ci/run"));
    assertThat(
            TESTS.stream()
                .flatMap(test -> Stream.concat(Stream.of(test), test.getMethods().stream()))
                .filter(test -> test.isAnnotatedWith(NeedsProgram.class))
                .flatMap(test -> Stream.of(test.getAnnotationOfType(NeedsProgram.class).value())))
        .isNotEmpty()
        .allSatisfy(
            program ->
                assertThat(script)
                    .containsPattern("[ \"]" + program.name().toLowerCase(Locale.ROOT)));
  }

  private static DescribedPredicate<JavaCall<?>> calls(Class<?> owner, String name) {
    return DescribedPredicate.describe(
        owner.getSimpleName() + "." + name,
        call -> call.getTargetOwner().isAssignableTo(owner) && call.getName().equals(name));
  }

  /**
   * The module of compatibility has no code of ours beside the library: its tests are a service's.
   */
  private static List<Path> folders() {
    try {
      return RepositoryRoot.files(RepositoryRoot.PATH, "pom.xml").stream()
          .map(Path::getParent)
          .filter(module -> !module.endsWith("verification/compatibility"))
          .flatMap(
              module ->
                  module.getFileName().toString().startsWith("test-")
                      ? Stream.of(module.resolve("target/classes"))
                      : Stream.of(module.resolve("target/test-classes")))
          .filter(Files::isDirectory)
          .toList();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
