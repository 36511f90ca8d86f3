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

  /** Leaves out the module of compatibility, whose class path is that of a service. */
  private static List<Path> folders() {
    try {
      return RepositoryRoot.files(RepositoryRoot.PATH, "pom.xml").stream()
          .map(Path::getParent)
          .filter(module -> !module.endsWith("verification/compatibility"))
          .map(
              module ->
                  isSharedTestCode(module)
                      ? Part.of(module, "main", "classes")
                      : Part.of(module, "test", "test-classes"))
          .filter(Part::isCompiled)
          .map(Part::classes)
          .toList();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static boolean isSharedTestCode(Path module) {
    return module.getFileName().toString().startsWith("test-");
  }

  /** The sources of a module and their classes. */
  private record Part(Path sources, Path classes) {
    static Part of(Path module, String sources, String classes) {
      return new Part(
          module.resolve("src").resolve(sources), module.resolve("target").resolve(classes));
    }

    /** Returns whether no source has been changed, added or deleted since the last build. */
    boolean isCompiled() {
      return Files.isDirectory(sources)
          && Files.isDirectory(classes)
          && newest(sources) <= newest(classes);
    }

    private static long newest(Path folder) {
      try (Stream<Path> files = Files.walk(folder)) {
        return files.mapToLong(file -> file.toFile().lastModified()).max().orElse(0);
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }
  }
}
