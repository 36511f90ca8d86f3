package io.github.grpcidempotency.example.provider;

import io.github.grpcidempotency.example.cloud.v1.BuyMachineRequest;
import io.github.grpcidempotency.example.cloud.v1.BuyMachineResponse;
import io.github.grpcidempotency.example.cloud.v1.ListMachinesRequest;
import io.github.grpcidempotency.example.cloud.v1.ListMachinesResponse;
import io.github.grpcidempotency.example.cloud.v1.MachineServiceGrpc.MachineServiceImplBase;
import io.github.grpcidempotency.example.provider.Sales.Sale;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;

/** Sells machines, one for each key. */
final class MachineSales extends MachineServiceImplBase {
  private final Sales sales;
  private final Duration delay;

  /**
   * Makes the service.
   *
   * @param delay how long a sale takes
   */
  MachineSales(Sales sales, Duration delay) {
    this.sales = sales;
    this.delay = delay;
  }

  @Override
  public void buyMachine(BuyMachineRequest request, StreamObserver<BuyMachineResponse> observer) {
    Sale sale;
    try {
      sale = sell(PurchaseKey.current(), request.getRegion());
    } catch (StatusRuntimeException refusal) {
      observer.onError(refusal);
      return;
    } catch (IOException failure) {
      observer.onError(Status.INTERNAL.withCause(failure).asRuntimeException());
      return;
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      observer.onError(Status.UNAVAILABLE.asRuntimeException());
      return;
    }
    answer(sale, observer);
  }

  private Sale sell(UUID key, String region) throws IOException, InterruptedException {
    if (region.isBlank() || region.length() > 100) {
      throw Status.INVALID_ARGUMENT
          .withDescription("a region has 1 to 100 characters")
          .asRuntimeException();
    }
    Thread.sleep(delay.toMillis());
    Sale sale = sales.sell(key, region);
    if (!sale.machine().getRegion().equals(region)) {
      throw Status.ALREADY_EXISTS
          .withDescription("the key has bought something else")
          .asRuntimeException();
    }
    return sale;
  }

  /** The answer to a region's first sale may be lost; the machine is sold all the same. */
  private static void answer(Sale sale, StreamObserver<BuyMachineResponse> observer) {
    String region = sale.machine().getRegion();
    if (sale.firstInRegion() && region.startsWith("lost-")) {
      return; // until the client gives up
    }
    if (sale.firstInRegion() && region.startsWith("flaky-")) {
      observer.onError(Status.UNAVAILABLE.asRuntimeException());
      return;
    }
    observer.onNext(BuyMachineResponse.newBuilder().setMachine(sale.machine()).build());
    observer.onCompleted();
  }

  @Override
  public void listMachines(
      ListMachinesRequest request, StreamObserver<ListMachinesResponse> observer) {
    ListMachinesResponse response;
    try {
      response = ListMachinesResponse.newBuilder().addAllMachines(sales.all()).build();
    } catch (IOException failure) {
      observer.onError(Status.INTERNAL.withCause(failure).asRuntimeException());
      return;
    }
    observer.onNext(response);
    observer.onCompleted();
  }
}
