package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.InviteMemberRequest;
import io.github.grpcidempotency.example.organization.v1.InviteMemberResponse;
import io.github.grpcidempotency.example.organization.v1.InviteServiceGrpc;
import io.grpc.Status;

final class InviteWithoutAKey implements Step {
  @Override
  public String title() {
    return "A form sends no key: the address is the key, and the link in the answer is told once";
  }

  @Override
  public void play(Stage stage, Story story) {
    story.sent("InviteMember buzz@example.org as pilot");
    Answer invited = invite(stage.ada(), "pilot");
    story.cameBack(invited);
    story.expect(
        "the answer has the link",
        !invited.as(InviteMemberResponse.class).getAcceptLink().isEmpty());

    story.sent("the same, for somebody has clicked twice");
    Answer again = invite(stage.ada(), "pilot");
    story.cameBack(again);
    story.expect(
        "the replay has no link, and says so",
        again.as(InviteMemberResponse.class).getAcceptLink().isEmpty()
            && again.omitted().equals("accept_link"));
    story.expect(
        "apart from that it is the same invitation",
        again
            .as(InviteMemberResponse.class)
            .getInvite()
            .equals(invited.as(InviteMemberResponse.class).getInvite()));

    story.sent("InviteMember buzz@example.org as commander");
    Answer refused = invite(stage.ada(), "commander");
    story.cameBack(refused);
    story.expect(
        "an address has one open invitation",
        refused.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED"));
    story.counted(1, stage.rows().in("tenant.invites", stage.ada().user()), "invitation");
  }

  private static Answer invite(DemoClient client, String role) {
    return client.call(
        InviteServiceGrpc.getInviteMemberMethod(),
        InviteMemberRequest.newBuilder().setEmail("buzz@example.org").setRole(role).build(),
        response ->
            response.getAcceptLink().isEmpty()
                ? "invite " + response.getInvite().getId()
                : "invite %s, %.32s..."
                    .formatted(response.getInvite().getId(), response.getAcceptLink()));
  }
}
