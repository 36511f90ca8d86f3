package io.github.grpcidempotency.spring;

import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;

/** An application with one transaction manager, which writes things in the manager's own way. */
final class Host implements AutoCloseable {
  /** What the application writes with. */
  enum Kind {
    /** {@code JdbcTemplate}. */
    JDBC,
    /** The same, with the manager that does not tell what its exceptions mean. */
    DATA_SOURCE,
    /** Hibernate. */
    JPA,
    /** Hibernate, which sends several rows in a batch. */
    JPA_BATCHING
  }

  private final AnnotationConfigApplicationContext context =
      new AnnotationConfigApplicationContext();
  private final DataSource dataSource;
  private final Optional<EntityManager> entities;

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement
  static class Annotations {
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static JoinedAttributes joinedAttributes() {
      return new JoinedAttributes();
    }
  }

  private Host(Kind kind, DataSource dataSource) {
    this.dataSource = dataSource;
    switch (kind) {
      case JDBC ->
          context.registerBean(
              PlatformTransactionManager.class, () -> new JdbcTransactionManager(dataSource));
      case DATA_SOURCE ->
          context.registerBean(
              PlatformTransactionManager.class, () -> new DataSourceTransactionManager(dataSource));
      case JPA, JPA_BATCHING -> {
        context.registerBean(
            LocalContainerEntityManagerFactoryBean.class,
            () -> entityManagerFactory(dataSource, kind == Kind.JPA_BATCHING ? 10 : 0));
        context.registerBean(PlatformTransactionManager.class, () -> new JpaTransactionManager());
      }
    }
    context.registerBean(Propagations.class);
    context.register(Annotations.class);
    context.refresh();
    this.entities =
        context.getBeanProvider(EntityManagerFactory.class).stream()
            .findFirst()
            .map(SharedEntityManagerCreator::createSharedEntityManager);
  }

  static Host of(Kind kind, DataSource dataSource) {
    return new Host(kind, dataSource);
  }

  AbstractPlatformTransactionManager manager() {
    return context.getBean(AbstractPlatformTransactionManager.class);
  }

  SpringTransactions transactions() {
    return SpringTransactions.of(manager(), dataSource);
  }

  Propagations propagations() {
    return context.getBean(Propagations.class);
  }

  JdbcTemplate jdbc() {
    return new JdbcTemplate(dataSource);
  }

  DataSource dataSource() {
    return dataSource;
  }

  Optional<EntityManager> entities() {
    return entities;
  }

  /** Lets the rest of the transaction work on behalf of a user. */
  void become(UUID user) {
    jdbc()
        .queryForObject(
            "SELECT set_config('app.current_user_id', ?, true)", String.class, user.toString());
  }

  /** Writes a thing; with JPA it is not yet in the table. */
  void insert(UUID id, String name) {
    entities.ifPresentOrElse(
        manager -> manager.persist(new ThingEntity(id, name)),
        () -> jdbc().update("INSERT INTO app.things (id, name) VALUES (?, ?)", id, name));
  }

  /** Writes a name at once, or waits for whoever has written it. */
  void takeName(String name) {
    entities.ifPresentOrElse(
        manager -> {
          manager.persist(new NameEntity(name));
          manager.flush();
        },
        () -> jdbc().update("INSERT INTO app.names (name) VALUES (?)", name));
  }

  /** Writes a note at once. */
  void note(String text) {
    jdbc().update("INSERT INTO app.notes (text) VALUES (?)", text);
  }

  @Override
  public void close() {
    context.close();
  }

  static LocalContainerEntityManagerFactoryBean entityManagerFactory(DataSource dataSource) {
    return entityManagerFactory(dataSource, 0);
  }

  private static LocalContainerEntityManagerFactoryBean entityManagerFactory(
      DataSource dataSource, int batchSize) {
    LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
    factory.setDataSource(dataSource);
    factory.setManagedTypes(
        PersistenceManagedTypes.of(
            ThingEntity.class.getName(),
            NameEntity.class.getName(),
            NoteEntity.class.getName(),
            TicketEntity.class.getName()));
    factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
    factory.setJpaPropertyMap(
        Map.of(
            "hibernate.dialect",
            "org.hibernate.dialect.PostgreSQLDialect",
            "hibernate.jdbc.batch_size",
            String.valueOf(batchSize),
            "hibernate.boot.allow_jdbc_metadata_access",
            "false"));
    return factory;
  }
}
