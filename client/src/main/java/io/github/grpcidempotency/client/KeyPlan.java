package io.github.grpcidempotency.client;

import com.google.protobuf.DescriptorProtos.MethodOptions;
import com.google.protobuf.Descriptors;
import com.google.protobuf.ExtensionLite;
import com.google.protobuf.Message;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.proto.v1.KeyFormat;
import io.github.grpcidempotency.proto.v1.KeySource;
import io.github.grpcidempotency.proto.v1.Procedure;
import io.github.grpcidempotency.proto.v1.ProcedureProto;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import java.util.List;
import java.util.Optional;

/**
 * The places where the server looks for the key of a method's calls, in the order of its {@code
 * (idempotency.v1.procedure)} option. Decides which key a call has, and so whether it may be sent
 * twice: a call without a key must not be.
 */
record KeyPlan(List<Place> places) {
  /** One place for a key. */
  sealed interface Place {
    /** Returns whether the user has given a key, so that the client adds none. */
    boolean hasKey(Metadata headers, Optional<Message> request);

    /** Returns whether the user has given this key, in any case. */
    boolean holds(String key, Metadata headers, Optional<Message> request);

    /** Returns the key that the client would put here; empty if the place does not accept it. */
    Optional<String> keyOf(Intent intent, boolean chosen, Optional<Message> request);

    /** Returns whether the client can fill this place in every call, whatever its user sets. */
    default boolean fitsEveryCall() {
      return false;
    }
  }

  record Header(Metadata.Key<String> name, KeyForm form) implements Place {
    @Override
    public boolean hasKey(Metadata headers, Optional<Message> request) {
      return headers.containsKey(name);
    }

    @Override
    public boolean holds(String key, Metadata headers, Optional<Message> request) {
      return key.equalsIgnoreCase(headers.get(name));
    }

    @Override
    public Optional<String> keyOf(Intent intent, boolean chosen, Optional<Message> request) {
      return form.inHeader(intent, chosen);
    }

    @Override
    public boolean fitsEveryCall() {
      return form.fitsUuids();
    }
  }

  /** A field that the client fills, unless the user has set it, even to the empty text. */
  record Field(RequestField field, KeyForm form) implements Place {
    @Override
    public boolean hasKey(Metadata headers, Optional<Message> request) {
      return request.filter(field::hasContent).isPresent();
    }

    @Override
    public boolean holds(String key, Metadata headers, Optional<Message> request) {
      return request.filter(message -> field.holds(message, key)).isPresent();
    }

    @Override
    public Optional<String> keyOf(Intent intent, boolean chosen, Optional<Message> request) {
      return request.filter(field::isSet).isPresent()
          ? Optional.empty()
          : form.inField(intent, chosen);
    }

    @Override
    public boolean fitsEveryCall() {
      return form.fitsUuids() && !field.hasPresence();
    }
  }

  /** Fields from which the server computes a key. The client does not fill them. */
  record Computed(List<RequestField> fields) implements Place {
    @Override
    public boolean hasKey(Metadata headers, Optional<Message> request) {
      return fields.stream().anyMatch(field -> request.filter(field::hasContent).isPresent());
    }

    @Override
    public boolean holds(String key, Metadata headers, Optional<Message> request) {
      return false;
    }

    @Override
    public Optional<String> keyOf(Intent intent, boolean chosen, Optional<Message> request) {
      return Optional.empty();
    }
  }

  /** The key of one call. */
  sealed interface CallKey {
    /** No key. */
    record None() implements CallKey {}

    /** The user has given a key, or the fields from which the server computes it. */
    record Given() implements CallKey {}

    /** A key that the client puts into a place. */
    record Added(Place place, String key) implements CallKey {}
  }

  /**
   * An {@code ExtensionLite}, because every version of protobuf has the methods that accept this
   * type.
   */
  private static final ExtensionLite<MethodOptions, Procedure> OPTION = ProcedureProto.procedure;

  private static final KeyPlan NO_KEY = new KeyPlan(List.of());

  static final Place STANDARD_HEADER =
      new Header(header(WireNames.KEY), new KeyForm(KeyFormat.KEY_FORMAT_UNSPECIFIED, ""));

  /** The form of AIP-155. */
  private static final KeyForm UUID4_FORM = new KeyForm(KeyFormat.KEY_FORMAT_UUID4, "");

  /**
   * Returns the plan of a method. If a method has no option, it is unknown whether its server has
   * declared it idempotent in Java. A call of such a method gets a key only if the user has created
   * an intent.
   */
  static KeyPlan of(MethodDescriptor<?, ?> method, boolean chosen) {
    if (method.getType() != MethodDescriptor.MethodType.UNARY) {
      return NO_KEY;
    }
    Optional<Procedure> option = option(method);
    if (option.isEmpty()) {
      return chosen ? new KeyPlan(List.of(STANDARD_HEADER)) : NO_KEY;
    }
    Procedure declared = option.get();
    return switch (declared.getKeyPolicy()) {
      case KEY_POLICY_PROHIBITED, KEY_POLICY_HANDLER_INTERNAL, UNRECOGNIZED -> NO_KEY;
      case KEY_POLICY_UNSPECIFIED, KEY_POLICY_OPTIONAL, KEY_POLICY_REQUIRED ->
          new KeyPlan(
              declared.getKeySourcesCount() == 0
                  ? List.of(STANDARD_HEADER)
                  : places(declared.getKeySourcesList(), schema(method).orElseThrow()));
    };
  }

  /** Returns the key of one call. */
  CallKey keyOf(Metadata headers, Optional<Message> request, Intent intent, boolean chosen) {
    if (places.stream().anyMatch(place -> place.hasKey(headers, request))) {
      return new CallKey.Given();
    }
    for (Place place : places) {
      Optional<String> key = place.keyOf(intent, chosen, request);
      if (key.isPresent()) {
        return new CallKey.Added(place, key.get());
      }
    }
    return new CallKey.None();
  }

  /** Returns whether the user has given this key for a call, in a place of the plan. */
  boolean holds(String key, Metadata headers, Optional<Message> request) {
    return places.stream().anyMatch(place -> place.holds(key, headers, request));
  }

  /** Returns whether the key of a call depends on its request. */
  boolean readsRequest() {
    return places.stream().anyMatch(place -> !(place instanceof Header));
  }

  /** Returns whether all calls have a key, so that a channel can repeat every call. */
  boolean fitsEveryCall() {
    return places.stream().anyMatch(Place::fitsEveryCall);
  }

  /**
   * Returns whether calls can have a key, so that the server should protect them: the method is
   * declared idempotent, or the call has an intent. A handler that manages keys itself does not use
   * the library.
   */
  boolean takesKeys() {
    return !places.isEmpty();
  }

  /**
   * Throws an exception for a method whose calls must not be sent twice.
   *
   * @throws IllegalArgumentException if the method is not unary, or its calls carry no key
   */
  private static void requireKeys(MethodDescriptor<?, ?> method) {
    if (method.getType() != MethodDescriptor.MethodType.UNARY) {
      throw new IllegalArgumentException(method.getFullMethodName() + " is not unary");
    }
    if (!of(method, true).takesKeys()) {
      throw new IllegalArgumentException(
          method.getFullMethodName()
              + " must not be called twice: its calls carry no key, because its option prohibits"
              + " keys or lets the handler manage them");
    }
  }

  /**
   * Throws an exception for a call that must not be sent twice.
   *
   * @param chosen whether the user has created the intent
   * @throws IllegalArgumentException if the call has no key
   */
  static void requireKey(
      MethodDescriptor<?, ?> method, Object request, Intent intent, boolean chosen) {
    requireKeys(method);
    CallKey key = of(method, true).keyOf(new Metadata(), message(request), intent, chosen);
    if (key instanceof CallKey.None) {
      throw new IllegalArgumentException(
          method.getFullMethodName()
              + " must not be called twice with this request: the call has no key. Set the field"
              + " from which the server takes the key, or pass an intent whose text has the format"
              + " of the method's keys");
    }
  }

  /** Returns a request whose fields can be read; empty if it is not of protobuf's full runtime. */
  static Optional<Message> message(Object request) {
    return request instanceof Message message ? Optional.of(message) : Optional.empty();
  }

  private static List<Place> places(List<KeySource> sources, Descriptors.MethodDescriptor schema) {
    return sources.stream().map(source -> place(source, schema.getInputType())).toList();
  }

  private static Place place(KeySource source, Descriptors.Descriptor request) {
    KeyForm form = new KeyForm(source.getFormat(), source.getPattern());
    return switch (source.getSourceCase()) {
      case METADATA -> new Header(header(source.getMetadata()), form);
      case REQUEST_FIELD -> field(request, source.getRequestField(), form);
      case REQUEST_ID -> field(request, "request_id", UUID4_FORM);
      case ASSIGNED_ID ->
          new Computed(RequestField.of(request, source.getAssignedId()).stream().toList());
      case CONTENT ->
          new Computed(
              source.getContent().getFieldsList().stream()
                  .flatMap(path -> RequestField.of(request, path).stream())
                  .toList());
      case SOURCE_NOT_SET -> new Computed(List.of());
    };
  }

  private static Place field(Descriptors.Descriptor request, String path, KeyForm form) {
    return RequestField.of(request, path)
        .filter(RequestField::isText)
        .<Place>map(field -> new Field(field, form))
        .orElseGet(() -> new Computed(List.of()));
  }

  private static Metadata.Key<String> header(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  /** Returns a method's option; empty if it has none. */
  private static Optional<Procedure> option(MethodDescriptor<?, ?> method) {
    return schema(method)
        .map(Descriptors.MethodDescriptor::getOptions)
        .filter(options -> options.hasExtension(OPTION))
        .map(options -> options.getExtension(OPTION));
  }

  private static Optional<Descriptors.MethodDescriptor> schema(MethodDescriptor<?, ?> method) {
    return method.getSchemaDescriptor() instanceof ProtoMethodDescriptorSupplier supplier
        ? Optional.of(supplier.getMethodDescriptor())
        : Optional.empty();
  }
}
