import type { Json } from '../../../src/protocol/json.ts';
import type { IndexCondition, IndexPath, IndexStep } from '../../../src/rules/filters/index-condition.ts';
import { comparisons } from '../../../src/rules/jsonpath/compare.ts';

/** The meaning of index conditions, evaluated on one resource without any index. */
export function conditionHolds(condition: IndexCondition, resource: Json): boolean {
  switch (condition.kind) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'and':
      return condition.conditions.every((part) => conditionHolds(part, resource));
    case 'or':
      return condition.conditions.some((part) => conditionHolds(part, resource));
    case 'exists':
      return valuesAt(condition.path, resource).length > 0;
    case 'equals':
      return valuesAt(condition.path, resource).some((value) => value === condition.value);
    case 'range': {
      const { path, operator, value: bound } = condition;
      return valuesAt(path, resource).some(
        (value) => typeof value === 'number' && comparisons[operator](value, bound),
      );
    }
  }
}

function valuesAt(path: IndexPath, value: Json): Json[] {
  return path.reduce<Json[]>((values, step) => values.flatMap((each) => childrenAt(step, each)), [value]);
}

function childrenAt(step: IndexStep, value: Json): Json[] {
  if (typeof value !== 'object' || value === null) return [];
  if (step === 'child') return Object.values(value);
  if (step === 'element' || Array.isArray(value)) {
    return step === 'element' && Array.isArray(value) ? value : [];
  }
  return Object.hasOwn(value, step.name) ? [value[step.name] as Json] : [];
}
