import { setTimeout as delay } from 'node:timers/promises';
import { attempt } from '../../attempt.ts';
import { type FetchedAnswer, FetchFailure, type GuardedClient } from '../../http/guarded-client.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../protocol/json.ts';
import { readItems } from '../../protocol/json-items.ts';

// Reads an operator's OCPI endpoint as a Receiver (OCPI 2.2.1 and 2.3.0): versions → endpoints of the highest version → locations and tariffs, page
// by page. Later reads request changes (`date_from`), with an overlap. Now and then it reads everything again, because OCPI does not report
// deletions. No push and no credentials handshake.

/** The message is for the operator. */
export class OcpiFailure extends Error {
  override readonly name = 'OcpiFailure';
}

interface OcpiReaderOptions {
  url: string;
  token?: string;
  client: GuardedClient;
  /** Keys of locations from earlier runs, `DE*ABC*L1`. */
  known?: Iterable<string>;
  now?: () => Date;
  pause?: Pause;
}

type Pause = (ms: number) => Promise<unknown>;

export function createOcpiReader(options: OcpiReaderOptions) {
  const { url, token, client, known = [], now = () => new Date(), pause = delay } = options;
  const fetch = createFetch(client, token, pause);
  const modules = { locations: createModule(fetch, known), tariffs: createModule(fetch) };
  let endpoints: Endpoints | undefined;
  let lastFull = Number.NEGATIVE_INFINITY;
  let hasFailed = false;
  return {
    async read() {
      endpoints ??= await findEndpoints(url, fetch);
      const started = now().getTime();
      const isFull = started - lastFull >= fullReadMs;
      try {
        const isOther = await modules.locations.read(endpoints.locations, isFull);
        const isRepriced =
          endpoints.tariffs !== undefined && (await modules.tariffs.read(endpoints.tariffs, isFull));
        if (isFull) lastFull = started;
        const isChanged = isOther || isRepriced || hasFailed;
        hasFailed = false;
        return { locations: modules.locations.objects(), tariffs: modules.tariffs.objects(), isChanged };
      } catch (error) {
        // The endpoints may have moved. If one module was read and the other failed, changes of the first are not reported yet.
        endpoints = undefined;
        hasFailed = true;
        throw error;
      }
    },
  };
}

/** Maximum time until deleted locations are noticed. */
const fullReadMs = 60 * 60_000;
/** Overlap of two reads: clocks differ, and an object may be stored a little after its timestamp. */
const overlapMs = 5 * 60_000;

interface Endpoints {
  locations: string;
  tariffs?: string;
}

/** OCPI 2.3.0 before 2.2.1; both have the members that become catalogs. */
const versions = ['2.3.0', '2.2.1'];

async function findEndpoints(url: string, fetch: Fetch): Promise<Endpoints> {
  const listed = listOf((await fetch(url)).data);
  const [chosen] = versions.flatMap((version) => listed.filter((one) => one.version === version));
  if (typeof chosen?.url !== 'string') {
    const names = listed.map(({ version }) => version).join(', ') || 'none';
    throw new OcpiFailure(`it has neither OCPI 2.3.0 nor 2.2.1, but ${names}`);
  }
  const { data } = await fetch(chosen.url);
  const found = listOf(isJsonObject(data) ? (data.endpoints ?? null) : null);
  const urlOf = (identifier: string) => {
    const endpoint = found.find((one) => one.identifier === identifier && one.role !== 'RECEIVER');
    return typeof endpoint?.url === 'string' ? endpoint.url : undefined;
  };
  const locations = urlOf('locations');
  if (locations === undefined) throw new OcpiFailure('it offers no locations');
  return { locations, tariffs: urlOf('tariffs') };
}

/** All objects of one module, as texts, which stay in memory for comparisons. */
function createModule(fetch: Fetch, known: Iterable<string> = []) {
  let objects = new Map<string, string>();
  let expected: ReadonlySet<string> = new Set(known);
  let newest = '';

  async function read(url: string, isFull: boolean): Promise<boolean> {
    const from = isFull || newest === '' ? undefined : new Date(Date.parse(newest) - overlapMs).toISOString();
    const found = await readPages(url, { from, expected: from === undefined ? expected : new Set() }, fetch);
    const before = objects;
    objects = from === undefined ? found : new Map([...before, ...found]);
    expected = new Set(objects.keys());
    for (const object of readItems([...found.values()])) {
      const { last_updated }: JsonObject = isJsonObject(object) ? object : {};
      if (typeof last_updated === 'string' && last_updated > newest) newest = last_updated;
    }
    return objects.size !== before.size || [...found].some(([key, text]) => before.get(key) !== text);
  }
  return { read, objects: () => readItems([...objects.values()]) };
}

/**
 * Objects may move between pages during a read. One read is enough if it has as many objects as announced, and all expected ones. Otherwise reads
 * are repeated until one has no new object; an object counts as deleted if the last two reads lack it.
 */
async function readPages(
  url: string,
  { from, expected }: { from: string | undefined; expected: ReadonlySet<string> },
  fetch: Fetch,
): Promise<Map<string, string>> {
  let before = new Map<string, string>();
  for (let reading = 1; ; reading += 1) {
    const { found, total } = await readOnce(url, from, fetch);
    const isWhole = total === undefined || found.size === total;
    const both = new Map([...before, ...found]);
    if (reading === 1 && isWhole && [...expected].every((key) => found.has(key))) return found;
    const hasNothingNew = reading > 1 && both.size === before.size;
    if (hasNothingNew && (isWhole || found.size === before.size)) return both;
    if (reading === mostReadings) {
      if (isWhole) return both;
      throw new OcpiFailure(`${url} announces ${total} objects, but its pages have ${found.size} of them`);
    }
    before = found;
  }
}

const mostReadings = 5;

async function readOnce(url: string, from: string | undefined, fetch: Fetch) {
  const found = new Map<string, string>();
  let total: number | undefined;
  const first = new URL(url);
  first.searchParams.set('limit', String(pageSize));
  first.searchParams.set('offset', '0');
  if (from !== undefined) first.searchParams.set('date_from', from);
  const visited = new Set<string>();
  let pagesWithoutNews = 0;
  for (let next: string | undefined = first.href; next !== undefined; ) {
    if (visited.has(next) || visited.size > mostPages || pagesWithoutNews > mostPagesWithoutNews)
      throw new OcpiFailure(`${url} has endless pages`);
    visited.add(next);
    const { data, headers } = await fetch(next);
    const before = found.size;
    for (const object of listOf(data)) {
      const { country_code, party_id, id } = object;
      found.set([country_code, party_id, id].join('*'), JSON.stringify(object));
    }
    pagesWithoutNews = found.size > before ? 0 : pagesWithoutNews + 1;
    const announced = Number(headers['x-total-count']);
    if (Number.isInteger(announced)) total = announced;
    next = nextOf(headers.link, next);
  }
  return { found, total };
}

/** Servers with smaller pages announce that in `X-Limit`, and still link to the next page. */
const pageSize = 200;
const mostPages = 10_000;
/** An object that moves during a read may occur twice, but 20 pages in a row without a new object mean that paging is broken. */
const mostPagesWithoutNews = 20;

/** The token is sent only to the endpoint's own server. */
function nextOf(link: string | undefined, current: string): string | undefined {
  const [, target] = /<([^>]+)>\s*;[^,]*rel="?next"?/i.exec(link ?? '') ?? [];
  if (target === undefined) return undefined;
  const next = new URL(target, current);
  if (next.origin !== new URL(current).origin)
    throw new OcpiFailure(`${current} links to a next page at another server, ${next.origin}`);
  return next.href;
}

type Fetch = (url: string) => Promise<{ data: Json; headers: Record<string, string> }>;

function createFetch(client: GuardedClient, token: string | undefined, pause: Pause): Fetch {
  // Version 2.2 and later encode the token; older servers expect it unencoded.
  const forms = token === undefined ? [undefined] : [Buffer.from(token).toString('base64'), token];
  let form = 0;

  async function ask(url: string): Promise<FetchedAnswer> {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (forms[form] !== undefined) headers.authorization = `Token ${forms[form]}`;
    return client.request(url, { headers, timeoutMs, maxBytes, operatorConfigured: true });
  }
  return async (url) => {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await ask(url).catch((error: unknown) => {
        if (error instanceof FetchFailure) return error;
        throw error;
      });
      const outcome =
        answer instanceof FetchFailure ? { problem: answer.message, isPassing: true } : judge(answer);
      if ('data' in outcome) return outcome;
      if (outcome.isRefused && form + 1 < forms.length) {
        form += 1;
        continue;
      }
      if (!outcome.isPassing || attempt === mostAttempts) throw new OcpiFailure(`${url}: ${outcome.problem}`);
      const asked = answer instanceof FetchFailure ? Number.NaN : Number(answer.headers['retry-after']);
      const seconds = asked >= 0 ? Math.min(asked, longestPauseSeconds) : 2 ** attempt;
      await pause(seconds * 1_000);
    }
  };
}

const timeoutMs = 60_000;
const maxBytes = 64 * 1024 * 1024;
const mostAttempts = 5;
const longestPauseSeconds = 300;

type Outcome =
  | { data: Json; headers: Record<string, string> }
  /** `isPassing`: may succeed later; `isRefused`: the token was rejected. */
  | { problem: string; isPassing: boolean; isRefused?: boolean };

function judge({ status, headers, body }: FetchedAnswer): Outcome {
  if (status !== 200)
    return {
      problem: `it answered HTTP ${status}`,
      isPassing: status === 429 || status >= 500,
      isRefused: status === 401,
    };
  const document = attempt(() => parseJson(body));
  if (!isJsonObject(document)) return { problem: 'its answer is not a JSON object', isPassing: true };
  const { status_code: code, status_message: message = '', data } = document;
  // OCPI: 1xxx success, 2xxx the client's fault, 3xxx the server's.
  if (typeof code !== 'number' || code >= 2000 || data === undefined || data === null)
    return { problem: `it answered OCPI ${code} ${message}`.trim(), isPassing: Number(code) >= 3000 };
  return { data, headers };
}

function listOf(value: Json): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
