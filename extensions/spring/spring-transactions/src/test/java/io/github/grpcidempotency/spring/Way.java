package io.github.grpcidempotency.spring;

import com.google.protobuf.Message;
import com.google.rpc.Code;
import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.ProcedureBuilder;

/** How calls are run. */
enum Way {
  RESERVED,
  BEFORE_HANDLER,
  AT_COMMIT;

  <ResponseT extends Message> ProcedureBuilder<ResponseT> describe(
      ProcedureBuilder<ResponseT> procedure) {
    return switch (this) {
      case RESERVED ->
          procedure
              .execution(Execution.RESERVED)
              .failures(FailurePolicy.releaseAll().withNoEffect(Code.RESOURCE_EXHAUSTED));
      case BEFORE_HANDLER -> procedure.execution(Execution.TRANSACTIONAL);
      case AT_COMMIT -> procedure.execution(Execution.TRANSACTIONAL).claim(ClaimTiming.AT_COMMIT);
    };
  }
}
