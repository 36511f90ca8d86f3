package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.provider.MachineShop;
import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.run.server.RunningServer;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.List;

/** The whole story, in its order. */
final class DemoStory {
  private static final List<Chapter> CHAPTERS =
      List.of(
          new Chapter("Ada creates a project", Retrying::createOnce),
          new Chapter(
              "The response is lost on its way, so Ada sends the same call again",
              Retrying::loseTheResponse),
          new Chapter(
              "The work behind a project goes on; a client waits for its end in one call",
              Retrying::seeItComplete),
          new Chapter(
              "A key stands for one request: with another body it is refused",
              OneKey::refuseAnotherBody),
          new Chapter(
              "Grace happens to use Ada's key, and neither notices", OneKey::leaveAnotherUserAlone),
          new Chapter("Fifty calls with one key, all at once", OneKey::callFiftyTimesAtOnce),
          new Chapter(
              "The work behind a project can fail for good, and the client is told",
              Retrying::seeOneFail),
          new Chapter(
              "Each method says whether it needs a key, and where the key comes from",
              KeySources::sayWhereTheKeyIs),
          new Chapter(
              "A controller chooses the id of what it creates: the id is the key",
              KeySources::chooseTheId),
          new Chapter(
              "A form sends no key: the address is the key, and only the first answer has the link",
              KeySources::inviteWithoutAKey),
          new Chapter(
              "The same user with the same key, in other organizations and projects",
              OneKey::keepNamespacesApart),
          new Chapter(
              "A retry gets the token of an API key, which is stored nowhere in the clear",
              Secrets::keepASecret),
          new Chapter(
              "A token that was revoked is not sent again, although it is recorded",
              Secrets::revokeARight),
          new Chapter(
              "An import manages its keys itself: every line has one",
              ManyKeysOrNoCall::importTwice),
          new Chapter(
              "Without gRPC: two schedulers start the same run of a nightly job at once",
              ManyKeysOrNoCall::fireTheJobTwice),
          new Chapter(
              "How long retries are answered is changed while the server runs", Retention::change),
          new Chapter(
              "Stripe delivers an event twice, and somebody else forges one",
              Webhooks::takeAnEventInOnce),
          new Chapter(
              "A machine is sold and the provider's answer is lost, so the handler runs twice",
              Machines::buyOnceInTwoRuns),
          new Chapter(
              "A client is killed before its answer comes, and finishes when it is started again",
              KilledClient::finishAfterARestart),
          new Chapter(
              "A namespace is deleted, and then once more: by a retry, and by somebody else",
              Deleting::deleteTwice),
          new Chapter(
              "An operator asks what became of a key, with the command line and a role of its own",
              Operating::tellTheStoryOfAKey),
          new Chapter(
              "A claim travels with the handler's first statement; a retry that says so starts no handler",
              FirstStatement::claimWithIt));

  private record Chapter(String title, Scene scene) {}

  @FunctionalInterface
  private interface Scene {
    void play(Stage stage, Story story);
  }

  private DemoStory() {}

  /**
   * Plays against a running server.
   *
   * @param server on the database
   * @param shop where the server buys machines
   * @param database the server's database, to count rows and to find the files beside it
   * @return whether everything happened as it should
   */
  static boolean play(
      RunningServer server, MachineShop shop, EmbeddedDatabase database, PrintStream out) {
    Story story = new Story(out);
    try (Stage stage = Stage.inFrontOf(server, shop, database)) {
      for (Chapter chapter : CHAPTERS) {
        story.chapter(chapter.title());
        chapter.scene().play(stage, story);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return story.end();
  }
}
