package io.github.grpcidempotency.spring.boot;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import io.github.grpcidempotency.proto.v1.Procedure;
import io.github.grpcidempotency.proto.v1.ProcedureProto;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.testing.v1.ThingServiceOuterClass;
import io.github.grpcidempotency.thing.ThingHandler;
import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** A service whose method has an option that names no execution. */
abstract class UndecidedService implements BindableService {
  static final MethodDescriptor<CreateThingRequest, Thing> METHOD =
      ThingServiceGrpc.getCreateThingMethod().toBuilder().setSchemaDescriptor(new Schema()).build();

  /** The schema of things, without an execution. */
  private static final class Schema implements ProtoMethodDescriptorSupplier {
    private final FileDescriptor file;

    Schema() {
      FileDescriptor original = ThingServiceOuterClass.getDescriptor();
      FileDescriptorProto.Builder changed = original.toProto().toBuilder();
      changed
          .getServiceBuilder(0)
          .getMethodBuilder(0)
          .getOptionsBuilder()
          .setExtension(ProcedureProto.procedure, Procedure.getDefaultInstance());
      try {
        file =
            FileDescriptor.buildFrom(
                changed.build(), original.getDependencies().toArray(FileDescriptor[]::new));
      } catch (DescriptorValidationException invalid) {
        throw new AssertionError(invalid);
      }
    }

    @Override
    public FileDescriptor getFileDescriptor() {
      return file;
    }

    @Override
    public ServiceDescriptor getServiceDescriptor() {
      return file.getServices().get(0);
    }

    @Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().getMethods().get(0);
    }
  }

  @Override
  public ServerServiceDefinition bindService() {
    return ServerServiceDefinition.builder(ThingServiceGrpc.SERVICE_NAME)
        .addMethod(METHOD, ServerCalls.asyncUnaryCall(this::createThing))
        .build();
  }

  public void createThing(CreateThingRequest request, StreamObserver<Thing> answer) {
    ThingHandler.answer(answer, ThingHandler.newThing(request));
  }

  static class Plain extends UndecidedService {}

  static class Joining extends UndecidedService {
    @Override
    @Transactional
    public void createThing(CreateThingRequest request, StreamObserver<Thing> answer) {
      super.createThing(request, answer);
    }
  }

  /** Its handler is not transactional, but helpers of the same name are. */
  static class Overloaded extends UndecidedService {
    @Transactional
    public void createThing(CreateThingRequest request, String reason) {
      ThingHandler.newThing(request);
    }

    @Transactional
    public void create_thing(String name, StreamObserver<Thing> answer) {
      createThing(CreateThingRequest.newBuilder().setName(name).build(), answer);
    }

    @Transactional
    public void createThing(Object request, Object answer) {}
  }

  static class OfItsOwn extends UndecidedService {
    @Override
    @Transactional(propagation = Propagation.REQUIRES_NEW)
    public void createThing(CreateThingRequest request, StreamObserver<Thing> answer) {
      super.createThing(request, answer);
    }
  }

  static class Serializable extends UndecidedService {
    @Override
    @Transactional(isolation = Isolation.SERIALIZABLE)
    public void createThing(CreateThingRequest request, StreamObserver<Thing> answer) {
      super.createThing(request, answer);
    }
  }

  static class ReadOnly extends UndecidedService {
    @Override
    @Transactional(readOnly = true)
    public void createThing(CreateThingRequest request, StreamObserver<Thing> answer) {
      super.createThing(request, answer);
    }
  }
}
