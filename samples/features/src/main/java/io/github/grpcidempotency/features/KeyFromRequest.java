package io.github.grpcidempotency.features;

import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.features.shop.v1.Invitation;
import io.github.grpcidempotency.features.shop.v1.InviteMemberRequest;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.List;
import javax.sql.DataSource;

/**
 * The key is computed from the request, for clients that send none. The option of the method names
 * the fields: {@code key_sources: { content: { fields: "email" } }}.
 */
final class KeyFromRequest extends OrderServiceGrpc.OrderServiceImplBase {
  @Override
  public void inviteMember(InviteMemberRequest request, StreamObserver<Invitation> observer) {
    ClaimJdbi.handle()
        .execute(
            "INSERT INTO shop.invitations VALUES (?, ?)", request.getEmail(), request.getRole());
    Shop.answer(observer, Invitation.newBuilder().setEmail(request.getEmail()).build());
  }

  static List<Reply<Invitation>> run(DataSource pool) throws IOException {
    try (Shop shop = Shop.open(pool, new KeyFromRequest())) {
      OrderServiceBlockingStub stub = OrderServiceGrpc.newBlockingStub(shop.channel());
      InviteMemberRequest request =
          InviteMemberRequest.newBuilder().setEmail("bob@example.org").setRole("clerk").build();
      return List.of(
          Reply.blocking(stub, members -> members.inviteMember(request)),
          Reply.blocking(stub, members -> members.inviteMember(request))); // a second click
    }
  }
}
