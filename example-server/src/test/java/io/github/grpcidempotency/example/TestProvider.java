package io.github.grpcidempotency.example;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import io.github.grpcidempotency.example.cloud.v1.ListMachinesRequest;
import io.github.grpcidempotency.example.cloud.v1.Machine;
import io.github.grpcidempotency.example.cloud.v1.MachineServiceGrpc;
import io.github.grpcidempotency.example.provider.MachineShop;
import io.github.grpcidempotency.example.service.organization.CloudProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The cloud provider of all servers that the tests of a JVM start, behind a real socket, so that it
 * survives when a server is killed. It ends with the JVM. Each test uses a region of its own.
 */
final class TestProvider {
  private static final MachineShop SHOP = start();
  private static final CloudProvider CLOUD = CloudProvider.at(SHOP.target());
  private static final TestClient CLIENT = new TestClient(SHOP.port());

  private TestProvider() {}

  /** Returns where it listens, for a server that is another process. */
  static String target() {
    return SHOP.target();
  }

  /** Returns a client of it, for a server in this process. */
  static CloudProvider cloud() {
    return CLOUD;
  }

  /** Returns the machines that were sold in a region. */
  static List<Machine> machinesIn(String region) {
    return CLIENT
        .call(
            TestClient.nobody(),
            MachineServiceGrpc.getListMachinesMethod(),
            ListMachinesRequest.getDefaultInstance())
        .response()
        .getMachinesList()
        .stream()
        .filter(machine -> machine.getRegion().equals(region))
        .toList();
  }

  private static MachineShop start() {
    try {
      Path sales = Files.createTempDirectory("machines");
      Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(sales)));
      return MachineShop.start(0, sales);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static void delete(Path sales) {
    try {
      MoreFiles.deleteRecursively(sales, RecursiveDeleteOption.ALLOW_INSECURE);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
