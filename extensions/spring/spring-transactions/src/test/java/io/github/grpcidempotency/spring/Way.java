package io.github.grpcidempotency.spring;

import com.google.protobuf.Message;
import io.github.grpcidempotency.postgres.IdempotencyDataSource;
import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import javax.sql.DataSource;

/** How calls are run. */
enum Way {
  RESERVED,
  BEFORE_HANDLER,
  WITH_FIRST_STATEMENT;

  /** Returns what the host has for a pool. */
  DataSource on(DataSource pool) {
    return switch (this) {
      case RESERVED, BEFORE_HANDLER -> pool;
      case WITH_FIRST_STATEMENT -> new IdempotencyDataSource(pool);
    };
  }

  <ResponseT extends Message> ProcedureBuilder<ResponseT> describe(
      ProcedureBuilder<ResponseT> procedure) {
    return switch (this) {
      case RESERVED -> procedure.execution(Execution.RESERVED);
      case BEFORE_HANDLER -> procedure.execution(Execution.TRANSACTIONAL);
      case WITH_FIRST_STATEMENT ->
          procedure.execution(Execution.TRANSACTIONAL).claim(ClaimTiming.WITH_FIRST_STATEMENT);
    };
  }
}
