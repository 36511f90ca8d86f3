package io.github.grpcidempotency.example.service.organization;

import static io.github.grpcidempotency.example.service.tenant.Tables.INVITES;

import com.google.common.collect.ImmutableMap;
import io.github.grpcidempotency.example.organization.v1.Invite;
import io.github.grpcidempotency.example.organization.v1.InviteMemberRequest;
import io.github.grpcidempotency.example.organization.v1.InviteMemberResponse;
import io.github.grpcidempotency.example.organization.v1.InviteServiceGrpc.InviteServiceImplBase;
import io.github.grpcidempotency.example.service.tenant.Tenant;
import io.grpc.stub.StreamObserver;

/**
 * Invitations into an organization. Creates through the transaction of the call's claim. Only the
 * first answer contains the link, and only its hash is stored.
 */
public final class InviteService extends InviteServiceImplBase {
  private final Tenant tenant;

  public InviteService(Tenant tenant) {
    this.tenant = tenant;
  }

  @Override
  public void inviteMember(
      InviteMemberRequest request, StreamObserver<InviteMemberResponse> observer) {
    Reply.to(observer, () -> create(request));
  }

  private InviteMemberResponse create(InviteMemberRequest request) {
    RequestCheck check = new RequestCheck();
    String email = check.email("email", request.getEmail());
    String role = check.text("role", request.getRole());
    check.orThrow();
    NewResource<Invite> invite = NewResource.in(INVITES, email);
    OneTimeSecret link = OneTimeSecret.mint("https://example.org/invites/");
    return tenant
        .createWithinClaim(
            invite.ownedByCaller(),
            handle ->
                invite.insert(
                    handle,
                    ImmutableMap.of("email", email, "role", role, "link_sha256", link.sha256())))
        .map(created -> answer(created, link))
        .orElseThrow();
  }

  private static InviteMemberResponse answer(Invite created, OneTimeSecret link) {
    return InviteMemberResponse.newBuilder().setInvite(created).setAcceptLink(link.text()).build();
  }
}
