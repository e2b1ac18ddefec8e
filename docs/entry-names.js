// A plugin of typedoc: entries are called as they are imported, `@flashstack/sim` or `@flashstack/sim/conformance`.
import { Converter, ReflectionKind } from 'typedoc';

/** @param {import('typedoc').Application} application */
export function load(application) {
  application.converter.on(Converter.EVENT_RESOLVE_BEGIN, (context) => {
    for (const module of context.project.getReflectionsByKind(ReflectionKind.Module)) {
      module.name = `@flashstack/${module.name.replace(/\/src\b/, '')}`;
    }
  });
}
