import { faultAt, type Segments } from '../protocol/fault.ts';
import { checkPublishMessage } from '../protocol/publish-messages.ts';
import type { MasterDependency } from '../protocol/signed-files.ts';
import { TriggerRequest } from '../protocol/trigger-messages.ts';
import { validator } from '../protocol/validate.ts';

const parseShape = validator(TriggerRequest);

/** Parses a request to the trigger or a command; throws a ProtocolError at the first fault. */
export function parseTriggerRequest(value: unknown): TriggerRequest {
  const request = parseShape(value);
  if (request.message) checkPublishMessage(request.message);
  for (const [index, one] of (request.message?.publishDirectives ?? []).entries()) {
    if (one.dependencies === undefined) continue;
    const at = ['message', 'publishDirectives', index, 'dependencies'];
    if (one.catalogType !== 'REGULAR')
      throw faultAt('SCH_SCHEMA_VALIDATION_FAILED', at, 'is only for REGULAR catalogs');
    checkMasters(one.dependencies.masters, [...at, 'masters']);
  }
  refuseSecondMention(request);
  return request;
}

/** Crawlers would report these only in their own log. */
function checkMasters(masters: readonly MasterDependency[], at: Segments): void {
  const seen = new Set<string>();
  for (const [index, { catalogId, indexUrl }] of masters.entries()) {
    if (seen.has(catalogId))
      throw faultAt('SCH_SCHEMA_VALIDATION_FAILED', [...at, index, 'catalogId'], 'is already named');
    seen.add(catalogId);
    if (indexUrl === undefined || (URL.canParse(indexUrl) && /^https?:/i.test(indexUrl))) continue;
    throw faultAt('SCH_SCHEMA_VALIDATION_FAILED', [...at, index, 'indexUrl'], 'must be an http or https URL');
  }
}

/** Refuses two instructions for the same catalog in one request, because their order would be unclear. */
function refuseSecondMention({ message, retire = [], pause = [], resume = [] }: TriggerRequest): void {
  const mentions: [string, Segments][] = [
    ...(message?.catalogs.map(({ id }, index): [string, Segments] => [
      id,
      ['message', 'catalogs', index, 'id'],
    ]) ?? []),
    ...Object.entries({ retire, pause, resume }).flatMap(([name, ids]) =>
      ids.map((id, index): [string, Segments] => [id, [name, index]]),
    ),
  ];
  const seen = new Set<string>();
  for (const [id, at] of mentions) {
    if (seen.has(id))
      throw faultAt('SCH_SCHEMA_VALIDATION_FAILED', at, 'names a catalog that this request already names');
    seen.add(id);
  }
}
