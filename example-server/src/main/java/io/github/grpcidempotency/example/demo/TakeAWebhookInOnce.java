package io.github.grpcidempotency.example.demo;

import io.grpc.Status;

final class TakeAWebhookInOnce implements Step {
  private static final String EVENT = "{\"id\": \"evt_pioneer\", \"type\": \"invoice.paid\"}";
  private static final String FORGED = "{\"id\": \"evt_forged\", \"type\": \"invoice.paid\"}";

  @Override
  public String title() {
    return "Stripe delivers an event twice, and somebody else forges one";
  }

  @Override
  public void play(Stage stage, Story story) {
    StripeStandIn stripe =
        StripeStandIn.registeredBy(stage.ada(), "pioneer", "whsec_known_to_stripe");

    story.sent("Ingest " + EVENT + ", signed by Stripe, with no idempotency-key");
    Answer first = stripe.deliver(EVENT);
    story.cameBack(first);
    story.expect("it was taken in", first.isOk() && !first.isReplayed());

    story.sent("the same event, delivered again and signed anew");
    Answer again = stripe.deliver(EVENT);
    story.cameBack(again);
    story.expect("it was known by the event's own id", again.isReplayed() && again.isSameAs(first));

    story.sent("Ingest " + FORGED + ", signed with a secret that was guessed");
    Answer forged = stripe.signingWith("whsec_guessed").deliver(FORGED);
    story.cameBack(forged);
    story.expect(
        "it was refused, as a delivery to a webhook that does not exist would be",
        forged.isRefused(Status.Code.UNAUTHENTICATED, "IDEMPOTENCY_CALLER_REQUIRED"));
    story.counted(1, stage.rows().deliveries(stripe.webhookId()), "delivery to the webhook");
  }
}
