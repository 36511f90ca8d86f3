package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.InviteMemberRequest;
import io.github.grpcidempotency.example.organization.v1.InviteMemberResponse;
import io.github.grpcidempotency.example.organization.v1.InviteServiceGrpc;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.grpc.Status;

/** The content of the request is the key, and a field of the answer is not recorded. */
final class ContentKey implements Scene {
  @Override
  public String title() {
    return "A form sends no key: the address is the key, and only the first answer has the link";
  }

  @Override
  public void play(Stage stage, Story story) {
    DemoClient ada = stage.ada();
    Answer first = story.call("InviteMember buzz@example.org as pilot", () -> invite(ada, "pilot"));
    Answer again =
        story.call("the same, because somebody has clicked twice", () -> invite(ada, "pilot"));
    story.expect("the second click is a replay", again.isReplayed());
    story.expect(
        "the replay has no link, and says so",
        again.as(InviteMemberResponse.class).getAcceptLink().isEmpty()
            && !first.as(InviteMemberResponse.class).getAcceptLink().isEmpty()
            && again.trailer(IdempotencyMetadata.OMITTED).equals("accept_link"));
    Answer refused =
        story.call("InviteMember buzz@example.org as commander", () -> invite(ada, "commander"));
    story.expect(
        "an address has one open invitation",
        refused.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED"));
    story.counted(
        1, stage.count("tenant.invites WHERE user_id = ?", ada.user()), "invitation of Ada");
  }

  private static Answer invite(DemoClient client, String role) {
    return client.call(
        InviteServiceGrpc.getInviteMemberMethod(),
        InviteMemberRequest.newBuilder().setEmail("buzz@example.org").setRole(role).build());
  }
}
