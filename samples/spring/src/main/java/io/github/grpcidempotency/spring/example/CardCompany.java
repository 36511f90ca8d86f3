package io.github.grpcidempotency.spring.example;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** Calls the card company, which acts once for each idempotency key. */
@Component
class CardCompany {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final HttpClient http = HttpClient.newHttpClient();
  private final URI company;

  CardCompany(@Value("${shop.card-company}") URI company) {
    this.company = company;
  }

  /** Charges a card, and returns the company's id of the charge. */
  String charge(String card, int cents, String key) {
    return post("/charges", "%s %d".formatted(card, cents), key);
  }

  /** Has a receipt printed, and returns its number. */
  String receipt(String order, String key) {
    return post("/receipts", order, key);
  }

  private String post(String path, String what, String key) {
    HttpRequest request =
        HttpRequest.newBuilder(company.resolve(path))
            .timeout(PATIENCE)
            .header("Idempotency-Key", key)
            .POST(HttpRequest.BodyPublishers.ofString(what))
            .build();
    try {
      HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() != 200) {
        throw new CardCompanyException("the card company answered " + response.statusCode());
      }
      return response.body();
    } catch (IOException failure) {
      throw new CardCompanyException("the card company did not answer", failure);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CardCompanyException("interrupted", interrupt);
    }
  }
}
