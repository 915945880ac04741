import type { CatalogType } from '../../protocol/catalog.ts';
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts';
import { batchesOf } from '../../rules/inherited-bytes.ts';
import { CommandError } from '../command.ts';

export interface DirectiveOptions {
  type?: CatalogType;
  mode?: 'MERGE' | 'FULL';
  network?: string[];
}

export function readPublishFile(file: string, content: Json, options: DirectiveOptions): JsonObject {
  const request = asRequest(file, content);
  const message = isJsonObject(request.message) ? request.message : undefined;
  return message ? { ...request, message: withDirectives(message, options) } : request;
}

/** Splits a request by a byte limit, never within a catalog. MASTER catalogs come first, because others extend them. */
export function splitRequest(request: JsonObject, maxBytes: number): JsonObject[] {
  const { catalogs, publishDirectives, ...others } = isJsonObject(request.message) ? request.message : {};
  if (!Array.isArray(catalogs) || catalogs.length === 0) return [request];
  const directiveOf = directivesById(publishDirectives);
  const isMaster = (catalog: Json) => directiveOf.get(idOf(catalog))?.catalogType === 'MASTER';
  const mastersFirst = [...catalogs.filter(isMaster), ...catalogs.filter((one) => !isMaster(one))];
  const sizeOf = (catalog: Json) =>
    Buffer.byteLength(JSON.stringify([catalog, directiveOf.get(idOf(catalog)) ?? 0]));
  return [...batchesOf(mastersFirst, sizeOf, maxBytes)].map((group) => {
    const directives = group.flatMap((catalog) => directiveOf.get(idOf(catalog)) ?? []);
    const message: JsonObject = { ...others, catalogs: group };
    if (directives.length > 0) message.publishDirectives = directives;
    return { ...request, message };
  });
}

export function countCatalogs({ message }: JsonObject): { catalogs: number; resources: number } {
  const catalogs = isJsonObject(message) && Array.isArray(message.catalogs) ? message.catalogs : [];
  const resources = catalogs.map((one) =>
    isJsonObject(one) && Array.isArray(one.resources) ? one.resources.length : 0,
  );
  return { catalogs: catalogs.length, resources: resources.reduce((sum, count) => sum + count, 0) };
}

export function listCatalogIds({ message }: JsonObject): string[] {
  const catalogs = isJsonObject(message) && Array.isArray(message.catalogs) ? message.catalogs : [];
  return catalogs.map(idOf).filter((id) => typeof id === 'string');
}

function asRequest(file: string, value: Json): JsonObject {
  if (Array.isArray(value)) return { message: { catalogs: value } };
  if (isJsonObject(value) && requestMembers.some((member) => member in value)) return value;
  if (isJsonObject(value) && 'id' in value) return { message: { catalogs: [value] } };
  throw new CommandError(
    `${file} has neither a publish request (with "message"), nor a catalog (with "id"), nor an array of catalogs.`,
  );
}

const requestMembers = ['message', 'retire', 'pause', 'resume', 'forceBaseline'];

function withDirectives(message: JsonObject, { type, mode, network }: DirectiveOptions): JsonObject {
  const { catalogs, publishDirectives } = message;
  if (!Array.isArray(catalogs) || (type ?? mode ?? network) === undefined) return message;
  const given = directivesById(publishDirectives);
  const added = catalogs
    .map(idOf)
    .filter((id) => id !== undefined && !given.has(id))
    .map((id) => ({
      catalogId: id ?? '',
      catalogType: type ?? 'REGULAR',
      ...(mode && { updateMode: mode }),
      ...(network && { visibleTo: network }),
    }));
  return {
    ...message,
    publishDirectives: [...(Array.isArray(publishDirectives) ? publishDirectives : []), ...added],
  };
}

function directivesById(publishDirectives: Json | undefined): Map<Json | undefined, JsonObject> {
  const directives = Array.isArray(publishDirectives) ? publishDirectives.filter(isJsonObject) : [];
  return new Map(directives.map((directive) => [directive.catalogId, directive]));
}

function idOf(catalog: Json): Json | undefined {
  return isJsonObject(catalog) ? catalog.id : undefined;
}
