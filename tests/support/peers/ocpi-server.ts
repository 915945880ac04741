import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// An operator's OCPI endpoint with the paging, errors and versions of OCPI 2.2.1 and 2.3.0: objects in the order of their last update, `date_from`,
// `limit` and `offset`, `Link`, `X-Total-Count` and `X-Limit`. A test can change the objects while they are read, and make requests fail.

export interface OcpiObject {
  id: string;
  last_updated: string;
  [member: string]: unknown;
}

export interface OcpiServer {
  url: string;
  locations: OcpiObject[];
  tariffs: OcpiObject[];
  /** The requested paths, in order. */
  requests: string[];
  /** Answers the next requests instead of the server; undefined: as usual. */
  interfere: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  close(): Promise<void>;
}

export async function startOcpiServer({
  token = 'secret',
  versions = ['2.1.1', '2.2.1', '2.3.0'],
  maxLimit = 10,
}: {
  token?: string;
  versions?: string[];
  maxLimit?: number;
} = {}): Promise<OcpiServer> {
  const scene: OcpiServer = {
    url: '',
    locations: [],
    tariffs: [],
    requests: [],
    interfere: undefined,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', scene.url);
    scene.requests.push(request.url ?? '');
    if (scene.interfere?.(request, response)) return;
    const isKnown = request.headers.authorization === `Token ${Buffer.from(token).toString('base64')}`;
    if (!isKnown) return void response.writeHead(401).end();
    const answer = (data: unknown, headers = {}) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify({ data, status_code: 1000, timestamp: new Date().toISOString() }));
    };
    const base = new URL('/', scene.url).href;
    if (pathname === '/versions')
      return answer(versions.map((version) => ({ version, url: `${base}${version}` })));
    const version = versions.find((one) => pathname === `/${one}`);
    if (version !== undefined) {
      const endpoints = ['locations', 'tariffs'].map((identifier) => ({
        identifier,
        role: 'SENDER',
        url: `${base}${version}/${identifier}`,
      }));
      return answer({
        version,
        endpoints: [{ identifier: 'locations', role: 'RECEIVER', url: `${base}no` }, ...endpoints],
      });
    }
    const module = /\/(locations|tariffs)$/.exec(pathname)?.[1] as 'locations' | 'tariffs' | undefined;
    if (module === undefined) return void response.writeHead(404).end();
    const from = searchParams.get('date_from') ?? '';
    const objects = scene[module].filter(({ last_updated }) => last_updated >= from);
    const limit = Math.min(maxLimit, Number(searchParams.get('limit') ?? maxLimit));
    const offset = Number(searchParams.get('offset') ?? 0);
    const next = new URL(request.url ?? '', scene.url);
    next.searchParams.set('offset', String(offset + limit));
    next.searchParams.set('limit', String(limit));
    answer(objects.slice(offset, offset + limit), {
      'x-total-count': String(objects.length),
      'x-limit': String(limit),
      ...(offset + limit < objects.length && { link: `<${next.href}>; rel="next"` }),
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scene.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/versions`;
  return scene;
}

/** A location with one EVSE per status, each with one connector. */
export function ocpiLocation(
  id: string,
  {
    statuses = ['AVAILABLE'],
    tariff,
    updated = '2026-01-31T12:00:00Z',
    ...more
  }: {
    statuses?: string[];
    tariff?: string;
    updated?: string;
    [member: string]: unknown;
  } = {},
): OcpiObject {
  return {
    country_code: 'DE',
    party_id: 'ABC',
    id,
    publish: true,
    name: `Station ${id}`,
    address: 'Marktplatz 1',
    city: 'Ludwigsburg',
    postal_code: '71634',
    country: 'DEU',
    coordinates: { latitude: '48.8973', longitude: '9.1916' },
    operator: { name: 'ABC Charging' },
    time_zone: 'Europe/Berlin',
    evses: statuses.map((status, index) => ({
      uid: `${id}-${index + 1}`,
      evse_id: `DE*ABC*E${id}${index + 1}`,
      status,
      connectors: [
        {
          id: '1',
          standard: 'IEC_62196_T2_COMBO',
          format: 'CABLE',
          power_type: 'DC',
          max_voltage: 920,
          max_amperage: 200,
          max_electric_power: 150_000,
          // Some operators send null if they have no tariff.
          tariff_ids: tariff === undefined ? null : [tariff],
          last_updated: updated,
        },
      ],
      last_updated: updated,
    })),
    last_updated: updated,
    ...more,
  };
}

export function ocpiTariff(id: string, price: number, updated = '2026-01-31T12:00:00Z'): OcpiObject {
  return {
    country_code: 'DE',
    party_id: 'ABC',
    id,
    currency: 'EUR',
    elements: [{ price_components: [{ type: 'ENERGY', price, step_size: 1 }] }],
    last_updated: updated,
  };
}
