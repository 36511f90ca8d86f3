package io.github.grpcidempotency.torture;

import com.google.common.base.Joiner;
import com.google.common.base.Splitter;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.random.RandomGenerator;

/** How one server process is set up, from its start to its end: a value in each dimension. */
record ServerLife(Map<Dimension, String> values) {

  /** Returns a life in which every setting is ordinary. */
  static ServerLife ordinary() {
    Map<Dimension, String> values = new EnumMap<>(Dimension.class);
    for (Dimension dimension : Dimension.values()) {
      values.put(dimension, dimension.ordinary());
    }
    return new ServerLife(values);
  }

  static ServerLife draw(RandomGenerator random) {
    ServerLife life = ordinary();
    for (Dimension dimension : Dimension.values()) {
      List<String> choices = dimension.choices();
      life = life.with(dimension, choices.get(random.nextInt(choices.size())));
    }
    return life;
  }

  /** Reads what {@link #toString} has written. */
  static ServerLife parse(String text) {
    ServerLife life = ordinary();
    for (Map.Entry<String, String> entry :
        Splitter.on(',').withKeyValueSeparator('=').split(text).entrySet()) {
      life = life.with(Dimension.valueOf(entry.getKey()), entry.getValue());
    }
    return life;
  }

  ServerLife with(Dimension dimension, String value) {
    Map<Dimension, String> changed = new EnumMap<>(values);
    changed.put(dimension, value);
    return new ServerLife(changed);
  }

  String get(Dimension dimension) {
    return values.getOrDefault(dimension, dimension.ordinary());
  }

  int number(Dimension dimension) {
    return Integer.parseInt(get(dimension));
  }

  boolean isOrdinary(Dimension dimension) {
    return get(dimension).equals(dimension.ordinary());
  }

  /** Whether a server that is set up so may refuse to start. */
  boolean mayBeRefused() {
    return get(Dimension.QUERY_MODE).equals("simple")
        || get(Dimension.PREPARE_THRESHOLD).equals("-1");
  }

  /** Returns the properties for the driver. */
  Properties driverProperties() {
    Properties driver = new Properties();
    driver.setProperty("prepareThreshold", get(Dimension.PREPARE_THRESHOLD));
    driver.setProperty("preferQueryMode", get(Dimension.QUERY_MODE));
    driver.setProperty("autosave", get(Dimension.AUTOSAVE));
    driver.setProperty("socketTimeout", get(Dimension.SOCKET_TIMEOUT));
    driver.setProperty("connectTimeout", "4");
    List<String> options = new ArrayList<>();
    setUnlessOrdinary(options, "default_transaction_isolation", Dimension.ISOLATION);
    setUnlessOrdinary(options, "lock_timeout", Dimension.LOCK_TIMEOUT);
    setUnlessOrdinary(options, "statement_timeout", Dimension.STATEMENT_TIMEOUT);
    if (!options.isEmpty()) {
      driver.setProperty("options", String.join(" ", options));
    }
    return driver;
  }

  private void setUnlessOrdinary(List<String> options, String setting, Dimension dimension) {
    if (!isOrdinary(dimension)) {
      options.add("-c %s=%s".formatted(setting, get(dimension).replace(" ", "\\ ")));
    }
  }

  @Override
  public String toString() {
    return Joiner.on(',').withKeyValueSeparator('=').join(values);
  }
}
