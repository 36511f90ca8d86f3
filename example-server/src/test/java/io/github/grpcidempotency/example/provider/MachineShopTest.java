package io.github.grpcidempotency.example.provider;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.nobody;
import static io.github.grpcidempotency.example.cloud.v1.MachineServiceGrpc.getBuyMachineMethod;
import static io.github.grpcidempotency.example.cloud.v1.MachineServiceGrpc.getListMachinesMethod;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.example.TestClient;
import io.github.grpcidempotency.example.cloud.v1.BuyMachineRequest;
import io.github.grpcidempotency.example.cloud.v1.ListMachinesRequest;
import io.github.grpcidempotency.example.cloud.v1.Machine;
import io.grpc.Metadata;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A provider that keeps keys, as those do that handlers call. */
class MachineShopTest {
  private final Path sales;
  private final Metadata keyed = keyed(UUID.randomUUID(), nobody());
  private MachineShop shop;
  private TestClient client;

  MachineShopTest(@TempDir Path sales) throws IOException {
    this.sales = sales;
    this.shop = MachineShop.start(0, sales);
    this.client = new TestClient(shop.port());
  }

  @Test
  void aKeyBuysOneMachineAcrossRestarts() throws IOException {
    Machine bought = buy(keyed, "moon-1");
    assertThat(buy(keyed, "moon-1")).isEqualTo(bought);

    close();
    shop = MachineShop.start(0, sales);
    client = new TestClient(shop.port());

    assertThat(buy(keyed, "moon-1")).isEqualTo(bought);
    assertThat(sold()).containsExactly(bought);
    Machine another = buy(keyed(UUID.randomUUID(), nobody()), "moon-1");
    assertThat(sold()).containsExactly(bought, another);
  }

  @Test
  void nothingIsSoldWithoutAKeyOrForOneThatHasBoughtSomethingElse() {
    assertThat(refused(nobody(), "moon-1")).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(refused(keyed("today", nobody()), "moon-1")).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(refused(keyed, " ")).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(sold()).isEmpty();

    Machine bought = buy(keyed, "moon-1");
    assertThat(refused(keyed, "moon-2")).isEqualTo(Status.Code.ALREADY_EXISTS);
    assertThat(sold()).containsExactly(bought);
  }

  private Machine buy(Metadata headers, String region) {
    return client.call(headers, getBuyMachineMethod(), purchase(region)).response().getMachine();
  }

  private Status.Code refused(Metadata headers, String region) {
    return client.refused(headers, getBuyMachineMethod(), purchase(region)).code();
  }

  private static BuyMachineRequest purchase(String region) {
    return BuyMachineRequest.newBuilder().setRegion(region).build();
  }

  private List<Machine> sold() {
    return client
        .call(nobody(), getListMachinesMethod(), ListMachinesRequest.getDefaultInstance())
        .response()
        .getMachinesList();
  }

  @AfterEach
  void close() {
    client.close();
    shop.close();
  }
}
