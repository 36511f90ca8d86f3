package io.github.grpcidempotency.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.Program;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.util.EnumSet;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** The build of a machine that has a JDK and Maven only. */
class ProgramsTest {
  private static final EnumSet<Program> ON_EVERY_MACHINE =
      EnumSet.of(
          Program.BASH,
          Program.GIT,
          Program.JAVA,
          Program.MVN,
          Program.SETSID,
          Program.TAR,
          Program.UNSHARE);

  @Test
  void continuousIntegrationHidesEveryProgramThatAMachineMayNotHave() {
    String script = Text.read(RepositoryRoot.resolve(".ci/run"));

    assertThat(EnumSet.complementOf(ON_EVERY_MACHINE))
        .allSatisfy(
            program ->
                assertThat(script)
                    .containsPattern("[ \"]" + program.name().toLowerCase(Locale.ROOT)));
  }
}
