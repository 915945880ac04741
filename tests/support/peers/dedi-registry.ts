import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HostedAnswer, Spoiler } from '../hosted/tampering-proxy.ts';
import type { Body } from '../network/actor.ts';

// Plays a DeDi server as deployed ones answer: records have an internal id beside their name and are looked up by name; queries list summaries of
// records, a page at a time; every answer has the state of the registry; errors are `{message, code}`. Our own code, not theirs.

export interface DediRecord {
  name: string;
  details?: object;
  state?: string;
}

export interface DediRegistry {
  url: string;
  /** Requested paths with their query, in order. */
  asked: string[];
  /** Records by `namespace/registry`. */
  records: Map<string, DediRecord[]>;
  /** State of all its registries. */
  state: string;
  pageSize: number;
  /** Queries also return details. */
  withDetails: boolean;
  /** Queries return only names. */
  sparse: boolean;
  /** The error status for lookups of these names. */
  failing: Map<string, number>;
  stop(): Promise<void>;
}

export async function startDediRegistry(): Promise<DediRegistry> {
  const server = createServer((request, response) => {
    played.asked.push(request.url ?? '');
    const { status, body } = answer(played, new URL(request.url ?? '/', 'http://dedi.test'));
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  const played: DediRegistry = {
    ...{ url: '', asked: [], records: new Map(), failing: new Map() },
    ...{ state: 'live', pageSize: 2, withDetails: false, sparse: false },
    stop: () => new Promise((resolve) => void server.close(() => resolve())),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  played.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/dedi`;
  return played;
}

/** The internal id of a record. */
export function dediIdOf(name: string): string {
  return `did:cord:${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}

interface Answer {
  status: number;
  body: object;
}

function answer(registry: DediRegistry, { pathname, searchParams }: URL): Answer {
  const [, , question, namespace = '', registryName = '', name] = pathname.split('/').map(decodeURIComponent);
  const records = registry.records.get(`${namespace}/${registryName}`);
  if (!records) return refusal(404, 'Namespace or registry not found');
  if (question === 'query') return list(registry, { namespace, registryName }, records, searchParams);
  const failing = registry.failing.get(name ?? '');
  if (failing !== undefined) return refusal(failing, 'An unexpected error occurred');
  const record = records.find((each) => each.name === name);
  if (!record) return refusal(404, 'Record not found');
  const place = { namespace, registry_name: registryName, registry_id: dediIdOf(registryName) };
  const data = {
    ...{ ...place, namespace_id: dediIdOf(namespace), registry_state: registry.state },
    ...{ ...summaryOf(record), details: record.details ?? {}, meta: {}, schema: { type: 'object' } },
    proof: { type: 'DediRecordProof', record_identifier: dediIdOf(record.name) },
  };
  return { status: 200, body: { message: 'Resource retrieved successfully', data } };
}

function list(
  { state, pageSize, withDetails, sparse }: DediRegistry,
  { namespace, registryName }: { namespace: string; registryName: string },
  records: readonly DediRecord[],
  query: URLSearchParams,
): Answer {
  const page = Number(query.get('page') ?? 1);
  const shown = records.slice((page - 1) * pageSize, page * pageSize);
  const data = {
    ...{ namespace_id: dediIdOf(namespace), namespace_name: namespace, registry_name: registryName, state },
    ...{ total_records: records.length, total_pages: Math.ceil(records.length / pageSize) },
    ...{ page_number: page, page_size: pageSize },
    records: shown.map((record) => ({
      ...(sparse ? { record_name: record.name } : summaryOf(record)),
      ...(withDetails && { details: record.details }),
    })),
  };
  return { status: 200, body: { message: 'Resource retrieved successfully', data } };
}

function summaryOf({ name, state = 'live' }: DediRecord) {
  return {
    ...{ record_id: dediIdOf(name), record_name: name, description: `Record ${name}`, state, ttl: 86_400 },
    ...{
      version: '0x0a',
      version_count: 1,
      created_at: '2026-01-01T00:00:00Z',
      updated_at: '2026-01-01T00:00:00Z',
    },
  };
}

function refusal(status: number, message: string): Answer {
  return { status, body: { message, code: status === 404 ? 'NOT_FOUND' : 'INTERNAL' } };
}

/**
 * Turns our registry role into a DeDi server, as a proxy in front of it: queries return summaries, two records per page. In a network, where ids of
 * keys repeat, every record gets a unique name.
 */
export function asDediServer(): Spoiler {
  const named = new Map<string, Body>();
  const lists = new Map<string, Body[]>();
  return (address, served) => {
    const { pathname, searchParams } = new URL(address, 'http://dedi.test');
    const found = served.status === 200 ? JSON.parse(served.body.toString()).data : undefined;
    if (!pathname.startsWith('/dedi/query/')) {
      const record = found ?? named.get(pathname);
      return record && replace({ ...asDediRecord(record), registry_state: 'live' });
    }
    const page = Number(searchParams.get('page') ?? 1);
    if (page === 1) lists.set(pathname, found?.records ?? []);
    const records = lists.get(pathname) ?? [];
    const [, , , namespace = '', registryName] = pathname.split('/').map(decodeURIComponent);
    const summaries = records.slice((page - 1) * 2, page * 2).map((record) => {
      const isOwn = record.namespace === namespace && record.registry_name === registryName;
      const name = isOwn ? record.record_name : `${record.namespace}~${record.record_name}`;
      named.set(`${pathname.replace('/query/', '/lookup/')}/${encodeURIComponent(name)}`, record);
      const {
        details: _details,
        meta: _meta,
        network_memberships: _networks,
        ...rest
      } = asDediRecord(record);
      return { ...rest, record_name: name };
    });
    const total_pages = Math.ceil(records.length / 2);
    return replace({ state: 'live', total_records: records.length, total_pages, records: summaries });
  };
}

function asDediRecord(record: Body): Body {
  return { ...record, record_id: dediIdOf(`${record.namespace}/${record.record_name}`) };
}

function replace(data: object): Partial<HostedAnswer> {
  return {
    status: 200,
    body: Buffer.from(JSON.stringify({ message: 'Resource retrieved successfully', data })),
  };
}
