import type { Segments } from '../protocol/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import { isDate } from '../protocol/time.ts';

// Strict form (protocol decision: envelope rules). Deployed receivers close the schemas of six objects, and refuse a whole message for one unknown member of these. In strict form these six have only the
// members that every receiver knows; everything else, including everything inside typed attributes, stays as it is.

export type BodyForm = 'full' | 'strict';

/** Something that strict form drops: a member of one of the six objects, or a whole object with the reason. */
export type Dropped = { object: string; at: Segments } & ({ member: string } | { problem: string });

type Note = (dropped: Dropped) => void;

/** Undefined: it is omitted. The same value if nothing changes, so that a caller can detect that. */
type Project = (value: Json, at: Segments, note: Note) => Json | undefined;

const keep: Project = (value) => value;
const drop: Project = () => undefined;

const mediaFile = closed('MediaFile', { label: keep, mimeType: keep, uri: keep });
const descriptor = closed('Descriptor', {
  ...{ code: keep, name: keep, shortDesc: keep, longDesc: keep, thumbnailImage: keep, docs: keep },
  mediaFile: each(mediaFile),
});
const address = closed('Address', {
  ...{ streetAddress: keep, extendedAddress: keep, addressLocality: keep, addressRegion: keep },
  ...{ postalCode: keep, addressCountry: keep },
});
const location = having(
  { object: 'Location', problem: 'has no geo' },
  ({ geo }) => geo !== undefined,
  closed('Location', { geo: keep, address }),
);
const provider = closed('Provider', {
  ...{ id: keep, descriptor, availableAt: each(location), providerAttributes: keep },
});
const timePeriod = closed('TimePeriod', {
  startDate: dayAs('T00:00:00Z'),
  endDate: dayAs('T23:59:59.999Z'),
  ...{ startTime: keep, endTime: keep },
});
const resource = open({ descriptor });
/** Its status is a word or a Descriptor. */
const consideration = open({ status: descriptor });
/** For these receivers, an add-on is an offer. */
const offer: Project = open({
  ...{ descriptor, provider, validity: timePeriod, considerations: each(consideration) },
  addOns: each(
    having(
      { object: 'AddOn', problem: 'has no id that is a text, or its descriptor is not an object' },
      ({ id, descriptor: text }) => typeof id === 'string' && (text === undefined || isJsonObject(text)),
      (value, at, note) => offer(value, at, note),
    ),
  ),
});
const catalog = open({
  ...{ descriptor, provider, validity: timePeriod, resources: each(resource), offers: each(offer) },
});
/** A callback or a push. Results are those of on_publish. */
const body = open({ message: open({ catalogs: each(catalog), results: each(open({ warnings: drop })) }) });

/** Shapes of the texts. The head of a catalog is a catalog; documents are separated by commas. */
const shapes = { body, catalog, resources: each(resource), offers: each(offer) };

export interface StrictTask {
  shape: keyof typeof shapes;
  /** JSON, as text or in UTF-8. */
  json: string | Uint8Array;
  /** Only these catalogs of a body, by index. */
  only?: readonly number[];
}

export interface StrictText {
  /** Undefined if strict form changes nothing. */
  text?: string;
  catalogs: number;
}

export type ProjectText = (shape: 'catalog' | 'resources' | 'offers', text: string) => Promise<string>;

/** For threads (delivery/strict-renderer.ts). */
export const strictFormUrl = import.meta.url;

export function renderStrict({ shape, json, only }: StrictTask): StrictText {
  const text = typeof json === 'string' ? json : Buffer.from(json).toString('utf8');
  const areDocuments = shape === 'resources' || shape === 'offers';
  const given: Json = JSON.parse(areDocuments ? `[${text}]` : text);
  const wanted = only ? selectCatalogs(given, only) : given;
  const strict = shapes[shape](wanted, [], ignore);
  const catalogs = catalogsOf(given).length;
  if (strict === given) return { catalogs };
  const rendered = JSON.stringify(strict);
  return { catalogs, text: areDocuments ? rendered.slice(1, -1) : rendered };
}

/** Reports which parts of a published catalog strict form lacks, in the order of the document. */
export function noteDropped(published: object, at: Segments, note: Note): void {
  catalog(published as JsonObject, at, note);
}

function ignore(): void {}

function selectCatalogs(given: Json, only: readonly number[]): Json {
  const { message, ...rest } = isJsonObject(given) ? given : {};
  if (!isJsonObject(message)) return given;
  const catalogs = catalogsOf(given).filter((_, index) => only.includes(index));
  return { ...rest, message: { ...message, catalogs } };
}

function catalogsOf(given: Json): Json[] {
  const { message } = isJsonObject(given) ? given : {};
  const { catalogs } = isJsonObject(message) ? message : {};
  return Array.isArray(catalogs) ? catalogs : [];
}

function closed(object: string, members: Record<string, Project>): Project {
  const unknown =
    (member: string): Project =>
    (_, at, note) =>
      void note({ object, member, at });
  return projectMembers(members, unknown);
}

function open(members: Record<string, Project>): Project {
  return projectMembers(members, () => keep);
}

function projectMembers(members: Record<string, Project>, others: (name: string) => Project): Project {
  const known = new Map(Object.entries(members));
  return (value, at, note) => {
    // A value of an unexpected shape stays as it is.
    if (!isJsonObject(value)) return value;
    let isSame = true;
    const kept: [string, Json][] = [];
    for (const [name, member] of Object.entries(value)) {
      const project = known.get(name) ?? others(name);
      const projected = project === keep ? member : project(member, [...at, name], note);
      if (projected !== member) isSame = false;
      if (projected !== undefined) kept.push([name, projected]);
    }
    return isSame ? value : Object.fromEntries(kept);
  };
}

function each(project: Project): Project {
  return (value, at, note) => {
    if (!Array.isArray(value)) return value;
    const projected = value.map((item, index) => project(item, [...at, index], note));
    if (projected.every((item, index) => item === value[index])) return value;
    return projected.filter((item) => item !== undefined);
  };
}

/** Receivers require the geometry of a Location and the id of an add-on: without it, the object is omitted. */
function having(
  missing: { object: string; problem: string },
  isWhole: (value: JsonObject) => boolean,
  project: Project,
): Project {
  return (value, at, note) => {
    if (!isJsonObject(value) || isWhole(value)) return project(value, at, note);
    note({ ...missing, at });
    return undefined;
  };
}

function dayAs(time: string): Project {
  return (value) => (typeof value === 'string' && isDate(value) ? `${value}${time}` : value);
}
