package io.github.grpcidempotency.example.run.command;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import com.google.common.net.HostAndPort;
import io.github.grpcidempotency.example.provider.MachineShop;
import io.github.grpcidempotency.example.run.database.StartupFailure;
import io.github.grpcidempotency.example.run.settings.DataFiles;
import io.github.grpcidempotency.example.service.background.Parts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Where the server buys machines. */
final class ProviderOptions {
  @Option(
      names = "--provider",
      paramLabel = "HOST:PORT",
      converter = Address.class,
      description =
          "the cloud provider that machines are bought at, such as one that the command \"provider\" starts; the same for all servers of a database (default: one in this process, which keeps what it has sold in the data directory, or with --jdbc-url until it ends)")
  private Optional<HostAndPort> provider = Optional.empty();

  /**
   * Returns the address of the provider, and starts one if there is none.
   *
   * @param parts gets the provider, if it is started here
   * @param data where the provider keeps its sales; empty if there is no permanent place
   * @throws StartupFailure if it cannot be started
   */
  String target(Parts parts, Optional<DataFiles> data) {
    return provider.map(HostAndPort::toString).orElseGet(() -> startHere(parts, data));
  }

  private static String startHere(Parts parts, Optional<DataFiles> data) {
    Path sales =
        data.map(DataFiles::machines)
            .orElseGet(() -> parts.start(TemporaryDirectory::create).path());
    return parts.start(() -> start(sales)).target();
  }

  private static MachineShop start(Path sales) {
    try {
      return MachineShop.start(0, sales);
    } catch (IOException e) {
      throw StartupFailure.because("The provider of machines cannot be started", e);
    }
  }

  /** A directory that exists until it is closed. */
  private record TemporaryDirectory(Path path) implements AutoCloseable {
    static TemporaryDirectory create() {
      try {
        return new TemporaryDirectory(Files.createTempDirectory("machines"));
      } catch (IOException e) {
        throw StartupFailure.because("There is no place for what is sold", e);
      }
    }

    @Override
    public void close() throws IOException {
      MoreFiles.deleteRecursively(path, RecursiveDeleteOption.ALLOW_INSECURE);
    }
  }

  /** Reads an address with a port. */
  static final class Address implements ITypeConverter<HostAndPort> {
    @Override
    public HostAndPort convert(String value) {
      try {
        HostAndPort address = HostAndPort.fromString(value);
        if (address.hasPort() && !address.getHost().isEmpty()) {
          return address;
        }
      } catch (IllegalArgumentException e) {
        // said below
      }
      throw new TypeConversionException("'" + value + "' is not HOST:PORT");
    }
  }
}
