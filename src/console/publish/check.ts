import { randomUUID } from 'node:crypto';
import { findWarnings } from '../../catalog/find-warnings.ts';
import { loadKnown, supplyTemplates } from '../../catalog/load-known.ts';
import type { Resource } from '../../protocol/catalog.ts';
import { type ErrorBody, errorBody } from '../../protocol/errors.ts';
import type { Segments } from '../../protocol/fault.ts';
import { identityOf } from '../../protocol/identity.ts';
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts';
import { segmentsOf } from '../../protocol/json-positions.ts';
import { findDisagreements, PublishMessage, type PublishWarning } from '../../protocol/publish-messages.ts';
import { findFaults } from '../../protocol/validate.ts';
import { checkCatalog } from '../../rules/check-attributes.ts';
import { inheritanceLimitsOf } from '../../rules/inherited-bytes.ts';
import { processCatalog } from '../../rules/publish.ts';
import { type Submission, submissionsOf } from '../../rules/submission.ts';
import type { Transaction } from '../../storage/database.ts';
import type { CheckAnswer } from '../answers/publish.ts';
import type { ConsoleContext } from '../context.ts';
import { placeFaults, readPasted, syntaxFault } from './input.ts';

// Runs the catalog service's checks of a publish on a text that is being edited; stores nothing.

/** Maximum of listed faults, and of warnings. */
const maxFaults = 200;

export async function checkText(context: ConsoleContext, text: string, as?: string): Promise<CheckAnswer> {
  let pasted: ReturnType<typeof readPasted>;
  try {
    pasted = readPasted(text);
  } catch (error) {
    return { parsed: false, faults: [syntaxFault(error)], warnings: [], catalogs: [] };
  }
  const { message } = pasted;
  const malformed = findMessageFaults(message, ['message']);
  const readable = removeFaults(message, malformed);
  const disagreements = [...findDisagreements(readable)].map(errorBody);
  const shape = [...malformed, ...disagreements];
  const isSound = shape.length === 0;
  const tried = await tryPublish(context, removeFaults(readable, disagreements), { as, warns: isSound });
  // A catalog without its removed parts may seem empty, or of another type: such faults are shown once the shape is valid.
  const others = isSound ? tried.errors : tried.errors.filter(({ code }) => !code.startsWith('BIZ_'));
  return {
    parsed: true,
    faults: placeFaults(text, pasted, [...shape, ...others].slice(0, maxFaults)),
    warnings: placeFaults(text, pasted, tried.warnings.slice(0, maxFaults)),
    catalogs: countCatalogs(message),
  };
}

const findMessageFaults = findFaults(PublishMessage);

/**
 * Copies the message without parts of wrong shape, so that the rest can still be checked. Lists keep their length, because faults refer to positions.
 * A missing id is replaced by an unused one.
 */
function removeFaults(message: unknown, faults: readonly ErrorBody[]): PublishMessage {
  if (faults.length === 0) return message as PublishMessage;
  const root = { message: structuredClone(message) as Json };
  for (const { details } of faults) removeAt(root, segmentsOf(details?.path ?? '$'));
  const { catalogs = [], publishDirectives = [] } = (root.message ?? {}) as Record<string, JsonObject[]>;
  const withIds = (items: Json = []) =>
    (items as JsonObject[]).map((item) => ({ id: randomUUID(), ...item }));
  const readable = withIds(catalogs).map(({ resources, offers, ...catalog }: JsonObject) => ({
    ...{ provider: {}, ...catalog },
    ...{ resources: withIds(resources), offers: withIds(offers) },
  }));
  return { catalogs: readable, publishDirectives } as unknown as PublishMessage;
}

function removeAt(root: JsonObject, segments: Segments): void {
  const isDirective = segments[1] === 'publishDirectives' && segments.length > 2;
  // Without these names, typed attributes cannot be checked.
  const isTyping = segments.at(-1) === '@context' || segments.at(-1) === '@type';
  const path = isDirective ? segments.slice(0, 3) : isTyping ? segments.slice(0, -1) : segments;
  const holder = path.slice(0, -1).reduce<Json | undefined>(memberOf, root);
  const name = path.at(-1) ?? '';
  const value = memberOf(holder, name);
  // A catalog with an unclear directive may be a template, which may be incomplete.
  const template = { catalogId: memberOf(value, 'catalogId') ?? '', catalogType: 'MASTER' };
  if (Array.isArray(holder)) holder[Number(name)] = isDirective ? template : isJsonObject(value) ? value : {};
  else if (isJsonObject(holder)) delete holder[name];
}

function memberOf(value: Json | undefined, name: string | number): Json | undefined {
  return (value as Record<string | number, Json> | null | undefined)?.[name];
}

/** Applies the publish without a lock, so that checks and publishes never wait for each other. */
async function tryPublish(
  { database, config, outside }: ConsoleContext,
  message: PublishMessage,
  { as = config.identities.publisher.id, warns }: { as?: string; warns: boolean },
): Promise<Findings> {
  const identity = identityOf(as, config.REGISTRY_NAME);
  const records = await outside
    .freshRegistry()
    .findSubscriber(identity)
    .catch(() => []);
  const publisher = {
    ...{ identity, registryName: config.REGISTRY_NAME, bppId: as, bppUri: config.identities.publisher.url },
    recordSubscriberId: records[0]?.subscriberId,
  };
  const submission = {
    publisher: identity,
    networkMemberships: [...new Set(records.flatMap(({ networkMemberships }) => networkMemberships))],
  };
  const parts = submissionsOf(message, config.DEFAULT_NETWORK_ID);
  const rules = { checker: outside.schemas.checker(), limits: inheritanceLimitsOf(config) };
  let inherited = 0;
  const tryPart = async (tx: Transaction, part: Submission): Promise<Findings> => {
    const options = { publisher: identity, inheritedBytes: inherited, forChange: false };
    const { stored, known } = await loadKnown(tx, part, options);
    const steps = processCatalog(part, publisher, known, rules);
    const { result, inheritedBytes } = await supplyTemplates(tx, stored, steps);
    inherited += inheritedBytes;
    const tools = { config, schemas: outside.schemas };
    const warnings = warns ? await findWarnings(tx, tools, { submission, part, parts, stored }) : [];
    const errors = (result.errors ?? []) as ErrorBody[];
    if (result.status !== 'REJECTED') return { errors, warnings };
    // A service rejects the whole catalog before it checks the content. Its author wants to see all faults at once.
    const { bppId: _named, ...catalog } = part.catalog;
    const anew = processCatalog({ ...part, catalog }, publisher, { ...known, stored: undefined }, rules);
    const { result: others } = await supplyTemplates(tx, stored, anew);
    const isPartial = ({ id }: Resource) =>
      part.catalogType === 'MASTER' || part.extensions.has(id) || known.extensions.has(id);
    const content = checkCatalog(catalog, rules.checker, { at: part.at, isPartial });
    return { errors: listOnce([...errors, ...((others.errors ?? []) as ErrorBody[]), ...content]), warnings };
  };
  const found: Findings[] = [];
  // All statements of a catalog use one snapshot, because no lock prevents changes between them.
  for (const part of parts)
    found.push(await database.transaction((tx) => tryPart(tx, part), { isolation: 'repeatable read' }));
  return {
    errors: found.flatMap(({ errors }) => errors),
    warnings: found.flatMap(({ warnings }) => warnings),
  };
}

function listOnce(errors: readonly ErrorBody[]): ErrorBody[] {
  return [...new Map(errors.map((error) => [JSON.stringify(error), error])).values()];
}

interface Findings {
  errors: ErrorBody[];
  warnings: PublishWarning[];
}

function countCatalogs(message: unknown): CheckAnswer['catalogs'] {
  const catalogs = isJsonObject(message) && Array.isArray(message.catalogs) ? message.catalogs : [];
  return catalogs.filter(isJsonObject).map(({ id, resources, offers }) => ({
    catalogId: String(id ?? ''),
    resources: Array.isArray(resources) ? resources.length : 0,
    offers: Array.isArray(offers) ? offers.length : 0,
  }));
}
