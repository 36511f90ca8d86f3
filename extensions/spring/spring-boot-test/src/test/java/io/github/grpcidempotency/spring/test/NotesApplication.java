package io.github.grpcidempotency.spring.test;

import java.util.List;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A Spring Boot application with a database and migrations. */
@SpringBootConfiguration
@EnableAutoConfiguration
class NotesApplication {
  @Bean
  ApplicationRunner settings(JdbcClient jdbc) {
    return arguments -> jdbc.sql("INSERT INTO setting VALUES ('from the start')").update();
  }

  static List<String> strings(JdbcClient jdbc, String query) {
    return jdbc.sql(query).query(String.class).list();
  }
}
