/** Validators of schemas: compiled by the build, or, for any other schema, on first use. The client package replaces this module, because it does not contain Ajv (adr/0015). */
import { hash } from 'node:crypto';
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import { createAjv } from './ajv.ts';
import { precompiled } from './precompiled.ts';
import type { TSchema } from './type.ts';

/** `firstFault` stops there; `everyFault` has no limit. */
type FaultMode = 'firstFault' | 'everyFault';

export function compiled(schema: TSchema, mode: FaultMode): ValidateFunction {
  const known = validators[mode].get(schema);
  if (known) return known;
  const validate = (mode === 'firstFault' && precompiled[digestOf(schema)]) || compile(schema, mode);
  validators[mode].set(schema, validate);
  return validate;
}

const validators: Record<FaultMode, WeakMap<TSchema, ValidateFunction>> = {
  firstFault: new WeakMap(),
  everyFault: new WeakMap(),
};

/** By its text, so a validator of an older build is never used for a schema that has changed since. */
export function digestOf(schema: TSchema): string {
  return hash('sha256', JSON.stringify(schema));
}

function compile(schema: TSchema, mode: FaultMode): ValidateFunction {
  instances[mode] ??= createAjv({ everyFault: mode === 'everyFault' });
  return instances[mode].compile(schema);
}

/** Two instances, each made on first use; an instance keeps its compiled schemas for its lifetime. */
const instances: Partial<Record<FaultMode, Ajv2020>> = {};
