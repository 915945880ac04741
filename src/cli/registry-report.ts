import type { KeyRecord } from '../storage/registry/records.ts';
import { renderTable } from './command.ts';

export function renderRecords(records: readonly KeyRecord[]): string {
  const header = ['SUBSCRIBER', 'KEY', 'STATE', 'TYPE', 'URL', 'NETWORKS'];
  const rows = records.map(({ subscriberId, recordId, state, type, url, networkMemberships }) => [
    subscriberId,
    recordId,
    state,
    type ?? '',
    url ?? '',
    networkMemberships.join(' '),
  ]);
  return renderTable(header, rows);
}

export function renderParticipant(records: readonly KeyRecord[]): string {
  const [first] = records;
  const lines = [
    ['subscriber', first?.subscriberId],
    ['identity', `${first?.namespace}/${first?.registryName}`],
    ['url', first?.url],
    ['type', first?.type],
    ['domain', first?.domain],
    ['countries', first?.countries?.join(' ')],
    ['networks', first?.networkMemberships.join(' ')],
    ['catalog indexes', first?.catalogIndexUrls.join(' ')],
    ...records.map((key) => [`key ${key.recordId}`, `${key.state}  ${key.publicKey}${renderValidity(key)}`]),
  ];
  return renderTable(
    ['', ''],
    lines.map(([label = '', text]) => [label ?? '', text || '-']),
  ).trimStart();
}

function renderValidity({ validFrom, validUntil, ttlSeconds }: KeyRecord): string {
  const from = validFrom ? `  from ${validFrom.toISOString()}` : '';
  const until = validUntil ? `  until ${validUntil.toISOString()}` : '';
  return `${from}${until}  ttl ${ttlSeconds} s`;
}
