package io.github.grpcidempotency.postgres;

import com.google.protobuf.Message;
import java.sql.SQLException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;

/** Calls {@link TransactionalCompletion} from handlers that use Jdbi and declare no exceptions. */
final class Joining {
  private Joining() {}

  static void lock(Handle handle) {
    try {
      TransactionalCompletion.lock(handle.getConnection());
    } catch (SQLException failure) {
      throw new UnableToExecuteStatementException("could not lock", failure, null);
    }
  }

  static void completeAndCommit(Handle handle, Message response) {
    try {
      TransactionalCompletion.completeAndCommit(handle.getConnection(), response);
    } catch (SQLException failure) {
      throw new UnableToExecuteStatementException("could not complete", failure, null);
    }
  }
}
