import type { ErrorObject } from 'ajv/dist/2020.js';
import { type ErrorBody, errorBody, ProtocolError } from '../protocol/errors.ts';
import type { Segments } from '../protocol/fault.ts';
import { explain } from '../protocol/validate.ts';

/** People fix a handful at a time; more would only enlarge the answer. */
const maxFaults = 10;

/** The specification's code for attributes that do not conform to their schema (catalog spec: Errors, asynchronous). */
export const nonconforming = 'SCH_SCHEMA_VALIDATION_FAILED';

/** Ajv's findings about typed attributes, each with the path of the fault. All have the same code. */
export function schemaFaults(errors: readonly ErrorObject[], value: unknown, at: Segments): ErrorBody[] {
  const faults = new Map<string, ErrorBody>();
  for (const error of withoutConsequences(errors)) {
    const { path, message } = explain(inWords(error), value, at);
    faults.set(`${path} ${message}`, errorBody(new ProtocolError(nonconforming, message, { path })));
    if (faults.size === maxFaults) break;
  }
  return [...faults.values()];
}

/** Omits consequences of other findings. "then" and "else" report beside the "if". A fault deep inside an alternative is more informative than that none fits. */
function withoutConsequences(errors: readonly ErrorObject[]): ErrorObject[] {
  let kept: ErrorObject[] = [];
  for (const error of errors) {
    if (error.keyword === 'if') continue;
    if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') {
      kept.push(error);
      continue;
    }
    const branches = kept.filter((earlier) => isInBranch(earlier, error));
    const deeper = branches.filter((branch) => branch.instancePath !== error.instancePath);
    kept = kept.filter((earlier) => !branches.includes(earlier)).concat(deeper.length > 0 ? deeper : error);
  }
  return kept;
}

/** A finding inside a branch of the alternatives: below their path, and not from a keyword beside them. */
function isInBranch(error: ErrorObject, alternatives: ErrorObject): boolean {
  const beside = alternatives.schemaPath.slice(0, -alternatives.keyword.length);
  return (
    `${error.instancePath}/`.startsWith(`${alternatives.instancePath}/`) &&
    (error.schemaPath.startsWith(`${alternatives.schemaPath}/`) || !error.schemaPath.startsWith(beside))
  );
}

/** Domain schemas use keywords that the protocol's schemas do not: with a message, they are explained like the others. */
function inWords(error: ErrorObject): ErrorObject {
  const { keyword, params, parentSchema } = error;
  switch (keyword) {
    case 'unevaluatedProperties': {
      const { unevaluatedProperty: additionalProperty } = params;
      return { ...error, keyword: 'additionalProperties', params: { additionalProperty } };
    }
    case 'anyOf':
    case 'oneOf': {
      const fitting = params.passingSchemas ? 'more than one' : 'none';
      return { ...error, keyword: 'forms', message: `fits ${fitting} of the permitted forms` };
    }
    case 'not':
    case 'false schema': {
      const reason = parentSchema?.description ? `: ${parentSchema.description}` : '';
      return { ...error, keyword: 'forbidden', message: `is not allowed here${reason}` };
    }
    default:
      return error;
  }
}
