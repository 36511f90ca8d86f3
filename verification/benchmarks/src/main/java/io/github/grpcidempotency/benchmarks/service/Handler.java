package io.github.grpcidempotency.benchmarks.service;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.InvalidProtocolBufferException;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.github.grpcidempotency.postgres.ClaimTransaction;
import io.github.grpcidempotency.postgres.TransactionalCompletion;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;

/** The handler of each variant: plain JDBC, with the same statements everywhere. */
final class Handler implements PeerHandler {
  private final DataSource pool;
  private final UUID user;
  private final SeparateSteps steps;

  private interface Work {
    void on(Connection connection, Project project) throws SQLException;
  }

  Handler(DataSource pool, UUID user) {
    this.pool = pool;
    this.user = user;
    this.steps = new SeparateSteps(pool, user);
  }

  Project create(Variant variant, CreateProjectRequest request) throws SQLException {
    return switch (variant) {
      case BARE, RESERVED -> alone(request);
      case ROUND_TRIP -> withOneRoundTripMore(request);
      case LOOK_UP -> lookedUp(request);
      case BARE_RECORD -> withTheLeastRecord(request);
      case SEPARATE -> inSeparateSteps(request);
      case JOINED_COMMIT -> joinedWithItsCommit(request);
      case AT_COMMIT -> on(ClaimTransaction.connection(), request);
      case TRANSACTIONAL -> withinTheClaim(request);
    };
  }

  @Override
  public Project on(Connection connection, CreateProjectRequest request) throws SQLException {
    Project project = projectOf(request);
    Effect.write(connection, user, project);
    return project;
  }

  @Override
  public Project alone(CreateProjectRequest request) throws SQLException {
    return inTransaction(request, (connection, project) -> Effect.write(connection, user, project));
  }

  /** The overhead that would remain if look-up and record had no cost but their round trip. */
  private Project withOneRoundTripMore(CreateProjectRequest request) throws SQLException {
    return inTransaction(
        request,
        (connection, project) -> {
          try (PreparedStatement nothing = connection.prepareStatement("SELECT 1")) {
            nothing.execute();
          }
          Effect.write(connection, user, project);
        });
  }

  /** The overhead that would remain if only a key and an answer were looked up and stored. */
  private Project withTheLeastRecord(CreateProjectRequest request) throws SQLException {
    Project project = projectOf(request);
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      Effect.writeWithRecord(connection, user, RequestKey.current(), project);
    }
    return project;
  }

  private Project joinedWithItsCommit(CreateProjectRequest request) throws SQLException {
    Project project = projectOf(request);
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      Effect.write(connection, user, project);
      TransactionalCompletion.completeAndCommit(connection, project);
    }
    return project;
  }

  private Project inTransaction(CreateProjectRequest request, Work work) throws SQLException {
    Project project = projectOf(request);
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      work.on(connection, project);
      connection.commit();
    }
    return project;
  }

  /** The minimum cost of any replay. */
  private Project lookedUp(CreateProjectRequest request) throws SQLException {
    Project project = projectOf(request);
    try (Connection connection = pool.getConnection()) {
      Effect.lookUp(connection, user, project);
    }
    return project;
  }

  private Project withinTheClaim(CreateProjectRequest request) throws SQLException {
    Project project = projectOf(request);
    Effect.writeWithUserSet(ClaimTransaction.connection(), user, project);
    return project;
  }

  private Project inSeparateSteps(CreateProjectRequest request) throws SQLException {
    String key = RequestKey.current();
    Optional<byte[]> recorded = steps.lookUp(key);
    if (recorded.isPresent()) {
      return parse(recorded.get());
    }
    UUID reservation = steps.reserve(key, request);
    Project project = alone(request);
    UUID unused = steps.complete(reservation, project);
    return project;
  }

  private static Project projectOf(CreateProjectRequest request) {
    return Project.newBuilder()
        .setId(UuidCreator.getTimeOrderedEpoch().toString())
        .setName(request.getName())
        .build();
  }

  private static Project parse(byte[] bytes) {
    try {
      return Project.parseFrom(bytes);
    } catch (InvalidProtocolBufferException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
