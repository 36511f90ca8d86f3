package io.github.grpcidempotency.example.run.command;

import io.github.grpcidempotency.example.run.settings.Durations;
import java.time.Duration;
import java.util.function.Function;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a duration on the command line, as {@link Durations} does. */
public final class DurationConverter implements ITypeConverter<Duration> {
  @Override
  public Duration convert(String value) {
    return convert(value, Durations::parse);
  }

  /** Rejects zero. */
  static final class Positive implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String value) {
      return DurationConverter.convert(value, Durations::positive);
    }
  }

  private static Duration convert(String value, Function<String, Duration> reader) {
    try {
      return reader.apply(value);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
