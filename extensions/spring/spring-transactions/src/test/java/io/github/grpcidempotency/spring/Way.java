package io.github.grpcidempotency.spring;

import com.google.protobuf.Message;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.ProcedureBuilder;

/** How calls are run. */
enum Way {
  RESERVED,
  BEFORE_HANDLER,
  AT_COMMIT;

  <ResponseT extends Message> ProcedureBuilder<ResponseT> describe(
      ProcedureBuilder<ResponseT> procedure) {
    return switch (this) {
      case RESERVED -> procedure.execution(Execution.RESERVED);
      case BEFORE_HANDLER -> procedure.execution(Execution.TRANSACTIONAL);
      case AT_COMMIT -> procedure.execution(Execution.TRANSACTIONAL).claimAtCommit();
    };
  }
}
