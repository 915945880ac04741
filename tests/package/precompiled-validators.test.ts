import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Action, actions } from '../../src/protocol/actions.ts';
import { compiled, digestOf } from '../../src/protocol/compiled.ts';
import type { precompiled as validators } from '../../src/protocol/precompiled.ts';
import type { TSchema } from '../../src/protocol/type.ts';
import { explain } from '../../src/protocol/validate.ts';
import { builtFiles } from '../support/processes/embedded-process.ts';
import { arbitraryValue } from '../support/values/arbitrary-value.ts';

const { precompiled } = (await import(join(builtFiles, 'protocol', 'precompiled.js'))) as {
  precompiled: typeof validators;
};
const all: Action[] = Object.values(actions);
const messages = all.flatMap(({ name, body }) => (body ? [{ name, schema: body.properties.message }] : []));
const contexts = all.flatMap(({ name, body }) => (body ? [{ name, schema: body.properties.context }] : []));

describe('the validators that the build compiles (npm run build)', () => {
  it.each([...messages, ...contexts])('are there for what is read of $name', ({ schema }) => {
    expect(precompiled[digestOf(schema)]).toBeTypeOf('function');
    expect(compiled(schema, 'firstFault'), 'compared with itself').not.toBe(precompiled[digestOf(schema)]);
  });

  it.each(messages)(
    'find the same first fault in a message of $name as Ajv does at run time, or none',
    ({ schema }) => {
      fc.assert(
        fc.property(
          arbitraryValue(schema),
          fc.nat(),
          fc.constantFrom(...spoilers),
          (value, choice, spoil) => {
            const spoiled = structuredClone(value);
            const places = placesIn(spoiled);
            const place = places[choice % Math.max(places.length, 1)];
            for (const one of [value, place ? spoil(place, spoiled) : spoiled])
              expect(faultOf(precompiled[digestOf(schema)], one)).toEqual(
                faultOf(compiled(schema, 'firstFault'), one),
              );
          },
        ),
        { numRuns: 100 },
      );
    },
  );

  it('are not taken for a schema that differs from the one that they were compiled for', () => {
    const [{ schema } = { schema: {} as TSchema }] = messages;
    expect(precompiled[digestOf({ ...schema, maxProperties: 1 })]).toBeUndefined();
  });
});

type Validate = (typeof validators)[string];

function faultOf(validate: Validate | undefined, value: unknown): object | undefined {
  if (!validate || validate(value)) return undefined;
  const { code, path, message } = explain(validate.errors?.at(-1), value, []);
  return { code, path, message };
}

interface Place {
  holder: Record<string, unknown>;
  name: string;
}

/** Every member and item of a value, at any depth. */
function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((name) => [{ holder, name }, ...placesIn(holder[name])]);
}

type Spoiler = (place: Place, value: unknown) => unknown;

const spoilers: Spoiler[] = [
  ({ holder, name }, value) => {
    delete holder[name];
    return value;
  },
  ({ holder }, value) => {
    holder.unheardOf = true;
    return value;
  },
  ...['', 'text', -1, 1e9, null, true, [], {}].map(
    (wrong): Spoiler =>
      ({ holder, name }, value) => {
        holder[name] = wrong;
        return value;
      },
  ),
];
