import { randomUUID } from 'node:crypto';
import type { ErrorBody } from '../../protocol/errors.ts';
import type { Segments } from '../../protocol/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts';
import { segmentsOf } from '../../protocol/json-positions.ts';
import type { PublishMessage } from '../../protocol/publish-messages.ts';

/**
 * Copies the message without parts of wrong shape, so that the rest can still be checked. Lists keep their length, because faults refer to positions.
 * A missing id is replaced by an unused one.
 */
export function removeFaults(message: unknown, faults: readonly ErrorBody[]): PublishMessage {
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
