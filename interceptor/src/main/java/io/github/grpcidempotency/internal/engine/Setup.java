package io.github.grpcidempotency.internal.engine;

import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks descriptors and stores together, before the first call. */
public final class Setup {
  private static final Logger logger = LoggerFactory.getLogger(Setup.class);

  private Setup() {}

  public static void check(Procedures procedures, Optional<Stores> stores) {
    check(List.of(), procedures, stores);
  }

  /**
   * Runs all checks of the start-up.
   *
   * @param found earlier problems, which are reported together with the new ones
   */
  public static void check(List<String> found, Procedures procedures, Optional<Stores> stores) {
    List<String> problems = new ArrayList<>(found);
    problems.addAll(procedures.problems());
    Collection<CheckedStore> all = stores.map(Stores::all).orElse(List.of());
    Map<CheckedStore, StoreException> outages = new LinkedHashMap<>();
    for (CheckedStore store : all) {
      if (procedures.problems().isEmpty()) { // otherwise a retention may be unreadable
        problems.addAll(store.shortRetentions(procedures.all()));
      }
      try {
        store.check(procedures.all());
      } catch (SetupException wrong) {
        problems.addAll(wrong.problems());
      } catch (StoreException unreachable) {
        outages.put(store, unreachable);
      }
    }
    if (!problems.isEmpty()) {
      outages.forEach((store, outage) -> problems.add(unchecked(store, outage)));
      throw new SetupException(problems);
    }
    if (!outages.isEmpty() && outages.size() == all.size()) {
      throw outages.values().iterator().next();
    }
    outages
        .values()
        .forEach(
            outage ->
                logger.warn(
                    "{}; calls of its callers are refused until it is checked",
                    outage.getMessage()));
  }

  /** The outage of a shard names the shard. */
  private static String unchecked(CheckedStore store, StoreException outage) {
    return store.shard().isPresent()
        ? String.valueOf(outage.getMessage())
        : "the store was not checked, because it cannot be reached: " + outage;
  }

  public static String line(Procedure procedure) {
    String execution = "execution " + procedure.execution();
    return procedure.name()
        + ": "
        + switch (procedure.keyPolicy()) {
          case OPTIONAL ->
              "a call with a key is protected, a call without a key is not; %s; %s"
                  .formatted(execution, outage(procedure.outagePolicy()));
          case REQUIRED ->
              "every call is protected, and a call without a key is refused; %s; %s"
                  .formatted(execution, outage(procedure.outagePolicy()));
          case HANDLER_INTERNAL -> "the handler deduplicates; the interceptor protects no call";
          case PROHIBITED -> "not protected; a call with a key is refused";
        };
  }

  private static String outage(OutagePolicy policy) {
    return switch (policy) {
      case FAIL_OPEN ->
          "during an outage of the store, it fails open: a call with a key runs unprotected";
      case FAIL_CLOSED ->
          "during an outage of the store, it fails closed: a call with a key is refused";
    };
  }
}
