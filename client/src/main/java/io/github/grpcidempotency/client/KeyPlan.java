package io.github.grpcidempotency.client;

import com.google.protobuf.DescriptorProtos.MethodOptions;
import com.google.protobuf.Descriptors;
import com.google.protobuf.ExtensionLite;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.proto.v1.KeyFormat;
import io.github.grpcidempotency.proto.v1.KeyPolicy;
import io.github.grpcidempotency.proto.v1.KeySource;
import io.github.grpcidempotency.proto.v1.Procedure;
import io.github.grpcidempotency.proto.v1.ProcedureProto;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The place of the key in a method's calls, according to its {@code (idempotency.v1.procedure)}
 * option.
 */
sealed interface KeyPlan {
  /** No place: the method takes no key, or the server finds the key itself. */
  record Nothing() implements KeyPlan {}

  /** A header, unless the user has set one of the headers that the server reads. */
  record InHeader(Metadata.Key<String> header, KeyForm form, List<Metadata.Key<String>> given)
      implements KeyPlan {}

  /** A field of the request, unless the user has set a header or a field with a key. */
  record InField(
      RequestField field,
      KeyForm form,
      List<Metadata.Key<String>> givenHeaders,
      List<RequestField> givenFields)
      implements KeyPlan {}

  /**
   * An {@code ExtensionLite}, because every version of protobuf has the methods that accept this
   * type.
   */
  ExtensionLite<MethodOptions, Procedure> OPTION = ProcedureProto.procedure;

  /** The header of a key, unless the option names another place. */
  Metadata.Key<String> KEY = Metadata.Key.of(WireNames.KEY, Metadata.ASCII_STRING_MARSHALLER);

  /** The default form: a UUID. */
  KeyForm ANY_FORM = new KeyForm(KeyFormat.KEY_FORMAT_UNSPECIFIED, "");

  /** The form of AIP-155. */
  KeyForm UUID4_FORM = new KeyForm(KeyFormat.KEY_FORMAT_UUID4, "");

  /** Returns a method's option; empty if it has none. */
  static Optional<Procedure> option(MethodDescriptor<?, ?> method) {
    return schema(method)
        .map(Descriptors.MethodDescriptor::getOptions)
        .filter(options -> options.hasExtension(OPTION))
        .map(options -> options.getExtension(OPTION));
  }

  /** Returns whether calls of a method can be sent again with the same key. */
  static boolean takesKey(MethodDescriptor<?, ?> method) {
    return method.getType() == MethodDescriptor.MethodType.UNARY
        && option(method).filter(Predicate.not(KeyPlan::prohibitsKey)).isPresent();
  }

  /**
   * Returns whether the server should protect a call, because the method is declared idempotent or
   * the call has an intent. A handler that manages keys itself does not use the library.
   */
  static boolean isProtected(MethodDescriptor<?, ?> method, boolean chosen) {
    return method.getType() == MethodDescriptor.MethodType.UNARY
        && option(method)
            .map(
                declared ->
                    !prohibitsKey(declared)
                        && declared.getKeyPolicy() != KeyPolicy.KEY_POLICY_HANDLER_INTERNAL)
            .orElse(chosen);
  }

  /** Returns whether a method refuses keys. */
  static boolean prohibitsKey(MethodDescriptor<?, ?> method) {
    return option(method).filter(KeyPlan::prohibitsKey).isPresent();
  }

  /**
   * Returns the place of the key of one call. If a method has no option, it is unknown whether its
   * server has declared it idempotent in Java. A call of such a method gets a key only if the user
   * has created an intent.
   */
  static KeyPlan of(MethodDescriptor<?, ?> method, boolean chosen) {
    if (method.getType() != MethodDescriptor.MethodType.UNARY) {
      return new Nothing();
    }
    Optional<Procedure> option = option(method);
    if (option.isEmpty()) {
      return chosen ? new InHeader(KEY, ANY_FORM, List.of(KEY)) : new Nothing();
    }
    Procedure declared = option.get();
    return switch (declared.getKeyPolicy()) {
      case KEY_POLICY_PROHIBITED, KEY_POLICY_HANDLER_INTERNAL, UNRECOGNIZED -> new Nothing();
      case KEY_POLICY_UNSPECIFIED, KEY_POLICY_OPTIONAL, KEY_POLICY_REQUIRED ->
          declared.getKeySourcesCount() == 0
              ? new InHeader(
                  KEY, new KeyForm(declared.getKeyFormat(), declared.getKeyPattern()), List.of(KEY))
              : ofSources(declared.getKeySourcesList(), schema(method).orElseThrow());
    };
  }

  private static KeyPlan ofSources(List<KeySource> sources, Descriptors.MethodDescriptor schema) {
    List<Metadata.Key<String>> headers =
        sources.stream().filter(KeySource::hasMetadata).map(KeyPlan::header).toList();
    List<RequestField> fields =
        sources.stream().map(source -> field(source, schema)).flatMap(Optional::stream).toList();
    // Uses the first source that the client can fill, but a field rather than a header: the headers
    // are sent before the client interceptor sees the request, and a key in a header could hide a
    // key in the request.
    for (KeySource source : sources) {
      Optional<RequestField> field = field(source, schema);
      if (field.isPresent() && !source.hasAssignedId()) {
        KeyForm form = source.hasRequestId() ? UUID4_FORM : form(source);
        return new InField(field.get(), form, headers, fields);
      }
    }
    return sources.stream().allMatch(KeySource::hasMetadata)
        ? new InHeader(headers.get(0), form(sources.get(0)), headers)
        : new Nothing();
  }

  private static Optional<RequestField> field(
      KeySource source, Descriptors.MethodDescriptor schema) {
    return switch (source.getSourceCase()) {
      case REQUEST_FIELD -> RequestField.of(schema.getInputType(), source.getRequestField());
      case REQUEST_ID -> RequestField.of(schema.getInputType(), "request_id");
      case ASSIGNED_ID -> RequestField.of(schema.getInputType(), source.getAssignedId());
      case METADATA, CONTENT, SOURCE_NOT_SET -> Optional.empty();
    };
  }

  private static KeyForm form(KeySource source) {
    return new KeyForm(source.getFormat(), source.getPattern());
  }

  private static Metadata.Key<String> header(KeySource source) {
    return Metadata.Key.of(source.getMetadata(), Metadata.ASCII_STRING_MARSHALLER);
  }

  private static boolean prohibitsKey(Procedure declared) {
    return switch (declared.getKeyPolicy()) {
      case KEY_POLICY_PROHIBITED -> true;
      case KEY_POLICY_UNSPECIFIED,
          KEY_POLICY_OPTIONAL,
          KEY_POLICY_REQUIRED,
          KEY_POLICY_HANDLER_INTERNAL,
          UNRECOGNIZED ->
          false;
    };
  }

  private static Optional<Descriptors.MethodDescriptor> schema(MethodDescriptor<?, ?> method) {
    return method.getSchemaDescriptor() instanceof ProtoMethodDescriptorSupplier supplier
        ? Optional.of(supplier.getMethodDescriptor())
        : Optional.empty();
  }
}
