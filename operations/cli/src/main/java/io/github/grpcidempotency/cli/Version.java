package io.github.grpcidempotency.cli;

import com.google.common.io.Resources;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.IVersionProvider;

/** Returns the version of the build. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() throws IOException {
    return new String[] {
      Resources.toString(
              Resources.getResource(Version.class, "version.txt"), StandardCharsets.UTF_8)
          .strip()
    };
  }
}
