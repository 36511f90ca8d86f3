package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.postgres.internal.driver.TransactionEnd;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts that would end a transaction, and texts that look like it. */
class TransactionEndTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "COMMIT",
        " \n\tcommit work",
        "Commit AND CHAIN;",
        "END",
        "end transaction",
        "ABORT",
        "ROLLBACK",
        "ROLLBACK WORK",
        "ROLLBACK TRANSACTION AND NO CHAIN",
        "ROLLBACK/* TO */",
        "PREPARE TRANSACTION 'both'",
        "prepare -- first\n /* of two */ transaction 'both'",
        "COMMIT PREPARED 'both'",
        "-- a comment\nCOMMIT",
        "--\n--\r\n/**/COMMIT",
        "/* a /* nested */ comment */ COMMIT",
        "SELECT 1; COMMIT",
        ";;COMMIT",
        "SELECT ';'; /* ; */ ROLLBACK; SELECT 2",
        "SELECT $$;$$; END",
        "SELECT 'it''s'; COMMIT",
        "SELECT E'it\\'s'; COMMIT",
        "INSERT INTO \"a;b\" VALUES (1); ABORT"
      })
  void isFound(String sql) {
    assertThat(TransactionEnd.in(sql)).isPresent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "   ",
        ";",
        "-- COMMIT",
        "/* COMMIT */",
        "/* COMMIT",
        "-",
        "/",
        "COMMENT ON TABLE a IS 'COMMIT'",
        "committed",
        "commit_all",
        "ROLLBACK TO a",
        "ROLLBACK TO SAVEPOINT a",
        "rollback work to savepoint a",
        "ROLLBACK /* not all */ TRANSACTION -- but\n TO a",
        "RELEASE SAVEPOINT a",
        "SAVEPOINT commit",
        "PREPARE a AS SELECT 1",
        "EXECUTE a",
        "ANALYZE a",
        "ALTER TABLE a ADD COLUMN b int",
        "CALL a()",
        "CREATE FUNCTION a() RETURNS int BEGIN ATOMIC SELECT 1; END",
        "DO $$ BEGIN PERFORM 1; END $$",
        "DO 'BEGIN PERFORM 1; COMMIT; END'",
        "SELECT '; COMMIT'",
        "SELECT E'\\'; COMMIT; \\''",
        "SELECT 1 -- ; COMMIT",
        "SELECT 1 /* ; COMMIT */",
        "SELECT $a$; COMMIT;$a$",
        "SELECT \"; COMMIT\"",
        "SELECT CASE WHEN true THEN 1 END",
        "SELECT 'an open; COMMIT"
      })
  void isNotFound(String sql) {
    assertThat(TransactionEnd.in(sql)).isEmpty();
  }
}
