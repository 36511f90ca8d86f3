package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.resource.StatusSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;

/**
 * Finds the {@link StatusSource} bean of a resource type: the bean with the resource type as its
 * name or qualifier.
 */
final class StatusSources {
  private final ListableBeanFactory beans;
  private final List<String> names;
  private final Set<String> used = new HashSet<>();
  private final List<String> problems = new ArrayList<>();

  StatusSources(ListableBeanFactory beans) {
    this.beans = beans;
    this.names =
        List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, StatusSource.class));
  }

  Optional<StatusSource> find(ResourceType type) {
    List<String> found =
        names.stream()
            .filter(
                name ->
                    BeanFactoryAnnotationUtils.isQualifierMatch(type.name()::equals, name, beans))
            .toList();
    used.addAll(found);
    if (found.size() > 1) {
      problems.add(
          "several StatusSource beans are for the resource type \"%s\": %s; remove all but one"
              .formatted(type.name(), String.join(", ", found)));
    }
    return found.size() == 1
        ? Optional.of(beans.getBean(found.get(0), StatusSource.class))
        : Optional.empty();
  }

  /** Returns the problems, after all procedures have looked up their sources. */
  List<String> problems(Procedures procedures) {
    List<String> all = new ArrayList<>(problems.stream().distinct().toList());
    for (String name : names) {
      if (!used.contains(name) && !isDescribed(name, procedures)) {
        all.add(
            ("the StatusSource bean \"%s\" is for no resource type: neither its name nor its"
                    + " qualifier is the resource_type of an annotated method")
                .formatted(name));
      }
    }
    return all;
  }

  /** A descriptor in Java can refer to the bean by itself. */
  private boolean isDescribed(String name, Procedures procedures) {
    StatusSource bean = beans.getBean(name, StatusSource.class);
    return procedures.all().stream()
        .map(Procedure::statusSource)
        .flatMap(Optional::stream)
        .anyMatch(source -> source == bean);
  }
}
