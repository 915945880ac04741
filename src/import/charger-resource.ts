import type { Resource } from '../protocol/catalog.ts';
import { jsonPath } from '../protocol/json.ts';
import { type Check, checkResource } from '../rules/check-attributes.ts';
import type { Attributes, Charger, Problem } from './station.ts';

export const chargerContext = 'https://schema.nfh.global/EnergyResourceEVCharger/v1.1/context.jsonld';

/**
 * A charger as a resource (self-hosted spec: EV charger resource type). A value that the domain schema refuses is removed and
 * reported; a charger that is invalid without it is left out and reported.
 */
export function chargerResource(
  charger: Charger,
  checker: Check,
  report: (problem: Problem) => void,
): Resource | undefined {
  const resource = resourceOf(charger);
  return checkResource(resource, checker, {}).length === 0 ? resource : mend(charger, checker, report);
}

function mend(charger: Charger, checker: Check, report: (problem: Problem) => void): Resource | undefined {
  const attributes = structuredClone(charger.attributes);
  const resource = resourceOf({ ...charger, attributes });
  for (;;) {
    const [fault] = checkResource(resource, checker, {});
    if (!fault) return resource;
    const path = fault.details?.path ?? '';
    const source = charger.sources.find((one) =>
      isWithin(path, jsonPath(['resourceAttributes', ...one.path.split('.')])),
    );
    const isRemoved = source !== undefined && removeMember(attributes, source.path.split('.').slice(1));
    const { column, value } = source ?? {};
    report({ at: charger.at, column, value, why: fault.message, kind: isRemoved ? 'value' : 'left-out' });
    if (!isRemoved) return undefined;
  }
}

function resourceOf({ id, name, description, type, attributes }: Charger): Resource {
  const descriptor = {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { shortDesc: description }),
  };
  return {
    id,
    ...(Object.keys(descriptor).length > 0 && { descriptor }),
    resourceAttributes: {
      '@context': chargerContext,
      '@type': 'EnergyResourceEVCharger',
      id,
      type,
      attributes,
    },
  };
}

function isWithin(path: string, holder: string): boolean {
  return path === holder || path.startsWith(`${holder}.`) || path.startsWith(`${holder}[`);
}

/** False if the member does not exist (any more): then it is not the cause of the fault. */
function removeMember(holder: Attributes, [name = '', ...rest]: string[]): boolean {
  if (!Object.hasOwn(holder, name)) return false;
  if (rest.length > 0) return removeMember(holder[name] as Attributes, rest);
  return delete holder[name];
}
