package io.github.grpcidempotency.key;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.io.BaseEncoding;
import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.EveryKind;
import io.github.grpcidempotency.testing.v1.EveryKindBefore;
import io.github.grpcidempotency.testing.v1.Thing;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FingerprinterTest {
  /** Stored hashes are compared with new ones: if these change, so must the version. */
  @Test
  void theFingerprintOfVersion1NeverChanges() {
    assertFingerprint(
        CreateThingRequest.getDefaultInstance(),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assertFingerprint(
        CreateThingRequest.newBuilder().setName("a").build(),
        "23dca2a7429612378554b0bb5b85012dec00a17cc2c673f17d2b76a50b839cd5");
    assertFingerprint(
        CreateThingRequest.newBuilder()
            .setName("a")
            .putLabels("b", "2")
            .putLabels("a", "1")
            .build(),
        "fe0e6b92c242974375efb71b7d2436abbb5aafa6c80c32dad12efae8e90f0a2c");
  }

  @Test
  void unknownFieldsOfARequestAreHashed() {
    CreateThingRequest known = CreateThingRequest.newBuilder().setName("a").build();
    CreateThingRequest newer =
        known.toBuilder()
            .setUnknownFields(
                UnknownFieldSet.newBuilder()
                    .addField(99, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
                    .build())
            .build();

    assertThat(
            Fingerprinter.wholeRequest()
                .fingerprint(newer)
                .matches(Fingerprinter.wholeRequest().fingerprint(known)))
        .isFalse();
  }

  /** During a rolling change of the schema, one server knows a field and another does not yet. */
  @Test
  void serversWithAnOlderAndANewerSchemaComputeTheSameFingerprint() throws Exception {
    CreateThingRequest request =
        CreateThingRequest.newBuilder()
            .setName("a")
            .putLabels("a", "1")
            .setRequestId("r")
            .setThing(Thing.newBuilder().setId("i").setName("n"))
            .setSentAt("now")
            .build();

    for (String known : List.of("name", "labels", "request_id", "thing", "sent_at")) {
      Message seenByOlder = DynamicMessage.parseFrom(without(known), request.toByteString());
      assertThat(seenByOlder.getUnknownFields().asMap()).as(known).hasSize(1);
      assertThat(Fingerprinter.wholeRequest().fingerprint(seenByOlder))
          .as(known)
          .isEqualTo(Fingerprinter.wholeRequest().fingerprint(request));
    }
  }

  @Test
  void aNestedUnknownFieldIsHashedInTheOrderOfItsNumber() throws Exception {
    Thing thing = Thing.newBuilder().setId("i").setName("n").build();
    UnknownFieldSet idUnknown =
        UnknownFieldSet.parseFrom(Thing.newBuilder().setId("i").build().toByteString());
    Thing seenByOlder = Thing.newBuilder().setName("n").setUnknownFields(idUnknown).build();
    assertThat(seenByOlder.toByteString()).isNotEqualTo(thing.toByteString());

    assertThat(Fingerprinter.wholeRequest().fingerprint(with(seenByOlder)))
        .isEqualTo(Fingerprinter.wholeRequest().fingerprint(with(thing)));
  }

  @Test
  void anUnknownFieldInAMapValueIsHashedInTheOrderOfItsNumber() throws Exception {
    EveryKind value = EveryKind.newBuilder().setADouble(1).setAFloat(2).build();
    EveryKind request = EveryKind.newBuilder().putMessages(-1, value).putMessages(1, value).build();
    Message seenByOlder = EveryKindBefore.parseFrom(request.toByteString());
    assertThat(seenByOlder.toByteString()).isNotEqualTo(request.toByteString());

    assertThat(Fingerprinter.wholeRequest().fingerprint(seenByOlder))
        .isEqualTo(Fingerprinter.wholeRequest().fingerprint(request));
  }

  @Test
  void hashesOfDifferentVersionsDoNotMatch() {
    ByteString hash = ByteString.copyFromUtf8("hash");

    assertThat(new Fingerprint(1, hash).matches(new Fingerprint(1, hash))).isTrue();
    assertThat(new Fingerprint(1, hash).matches(new Fingerprint(2, hash))).isFalse();
  }

  @Test
  void hashesThatDifferAnywhereDoNotMatch() {
    Fingerprint fingerprint = new Fingerprint(1, ByteString.copyFromUtf8("hash"));

    for (String other : List.of("Hash", "hasH", "has", "hash+", "")) {
      assertThat(fingerprint.matches(new Fingerprint(1, ByteString.copyFromUtf8(other))))
          .as(other)
          .isFalse();
    }
  }

  private static CreateThingRequest with(Thing thing) {
    return CreateThingRequest.newBuilder().setName("a").setThing(thing).setSentAt("now").build();
  }

  /** Returns the schema of requests as it was before a field was added. */
  private static Descriptor without(String field) throws DescriptorValidationException {
    FileDescriptor file = CreateThingRequest.getDescriptor().getFile();
    FileDescriptorProto.Builder older = file.toProto().toBuilder();
    older.clearService();
    DescriptorProto.Builder request = older.getMessageTypeBuilder(0);
    int index =
        IntStream.range(0, request.getFieldCount())
            .filter(i -> request.getField(i).getName().equals(field))
            .findFirst()
            .orElseThrow();
    request.removeField(index);
    return FileDescriptor.buildFrom(
            older.build(), file.getDependencies().toArray(FileDescriptor[]::new))
        .findMessageTypeByName("CreateThingRequest");
  }

  private static void assertFingerprint(CreateThingRequest request, String sha256) {
    assertThat(Fingerprinter.wholeRequest().fingerprint(request))
        .isEqualTo(
            new Fingerprint(
                1, ByteString.copyFrom(BaseEncoding.base16().lowerCase().decode(sha256))));
  }
}
