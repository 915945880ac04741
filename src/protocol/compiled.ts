/**
 * Validators of schemas, compiled when they are first asked for. The build of the client package has another module in the place of this one, with
 * validators that were compiled before: Ajv is no part of it (adr/0015).
 */
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import { createAjv } from './ajv.ts';

/** `firstFault` stops there; `everyFault` has no bound. */
export type FaultMode = 'firstFault' | 'everyFault';

/** Two instances, each made on first use; an instance keeps what it compiled for as long as it lives. */
export function compiled(schema: TSchema, mode: FaultMode): ValidateFunction {
  instances[mode] ??= createAjv({ everyFault: mode === 'everyFault' });
  return instances[mode].compile(schema);
}

const instances: Partial<Record<FaultMode, Ajv2020>> = {};
