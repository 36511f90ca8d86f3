package io.github.grpcidempotency.grpc;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;

/**
 * A call with any headers ends as the wire contract says, and its retry ends in the same way. An
 * input consists of headers, {@code name: value}, one per line; {@code user} alone means that there
 * is a caller.
 */
class MetadataFuzzTest {
  private static final UUID ALICE = new UUID(1, 2);

  private static final List<UnaryOperator<ProcedureBuilder<Thing>>> PROCEDURES =
      List.of(
          procedure -> procedure,
          procedure -> procedure.keyPolicy(KeyPolicy.REQUIRED).keyFormat(KeyFormat.opaque()),
          procedure -> procedure.keyPolicy(KeyPolicy.PROHIBITED),
          procedure ->
              procedure.keyFrom(
                  KeySource.firstOf(
                      KeySource.metadata("x-delivery"),
                      KeySource.metadata("x-run").as(KeyFormat.opaque()).prefixed("run:"),
                      KeySource.metadata("x-uuid").as(KeyFormat.uuid4()))));

  /** Not what is gRPC's own, or the authentication's: that is not for the interceptor to judge. */
  private static final Predicate<String> NAMED =
      Pattern.compile("(?!grpc-|(?:user|namespace):)[0-9a-z_.-]+:.*").asMatchPredicate();

  /** A store in memory forgets nothing, so it is replaced after so many inputs. */
  private static final int INPUTS_PER_STORE = 10_000;

  private static final List<ThingServer> servers = new ArrayList<>();
  private static int inputs;

  @FuzzTest
  void aCallEndsAsTheWireContractRequiresWhateverItsHeadersAre(byte[] input) {
    if (inputs++ % INPUTS_PER_STORE == 0) {
      restart();
    }
    for (ThingServer server : servers) {
      Seen seen = call(server, input);
      WireContract.assertKept(seen);
      if (seen.trailer(IdempotencyMetadata.OPERATION).isPresent()) {
        call(server, input).replays(seen);
      }
    }
  }

  private static Seen call(ThingServer server, byte[] input) {
    TestCall call = CallTest.call(server, "a thing");
    List<String> lines = new String(input, StandardCharsets.ISO_8859_1).lines().toList();
    lines.stream().filter(NAMED).map(MetadataFuzzTest::header).forEach(call::headers);
    return (lines.contains("user") ? call.as(ALICE) : call).end();
  }

  private static Metadata header(String line) {
    int colon = line.indexOf(':');
    return InternalMetadata.newMetadata(
        bytes(line.substring(0, colon)), bytes(line.substring(colon + 1).strip()));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static void restart() {
    stop();
    InMemoryIdempotencyStore store = new InMemoryIdempotencyStore();
    for (UnaryOperator<ProcedureBuilder<Thing>> procedure : PROCEDURES) {
      servers.add(
          ThingServer.on(Transport.DIRECT_EXECUTOR)
              .store(store)
              .withoutResource()
              .createThing(procedure)
              .start());
    }
  }

  @AfterAll
  static void stop() {
    for (ThingServer server : servers) {
      server.close();
    }
    servers.clear();
  }
}
