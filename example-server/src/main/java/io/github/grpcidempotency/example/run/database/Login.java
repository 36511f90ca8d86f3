package io.github.grpcidempotency.example.run.database;

/**
 * A role and its password.
 *
 * @param password empty for none
 */
public record Login(String user, String password) {
  @Override
  public String toString() {
    return user;
  }
}
