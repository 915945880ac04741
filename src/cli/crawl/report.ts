import type { LoggedLine } from '../../storage/crawl/log.ts';
import type { CatalogStatus, CrawlStatus, NextWork } from '../../storage/crawl/status.ts';
import { counted, renderTable } from '../command.ts';

export function renderLine(line: LoggedLine): string {
  const { at, node, catalogId, code, message, hint, times, url, indexUrl } = line;
  const what = [code, node, catalogId].filter((part) => part !== null && part !== undefined).join('  ');
  const place = url ?? indexUrl;
  return [
    `${at.toISOString()}  ${what}${times > 1 ? `  (${counted(times, 'time')})` : ''}`,
    `  ${message}`,
    ...(place && !message.includes(place) ? [`  ${place}`] : []),
    `  What to do: ${hint}`,
  ].join('\n');
}

export function renderStatus({ sources, catalogs, next, nodes, nodeCount }: CrawlStatus, now: Date): string {
  if (sources.length === 0 && nodeCount === 0)
    return 'Nothing is crawled: neither DISCOVERY_NETWORKS nor DISCOVERY_NODES names anything.';
  const total = catalogs.reduce((sum, { count }) => sum + count, 0);
  const states = catalogs.map(({ state, count }) => `${count} ${state}`).join(', ');
  const rows = sources.map(({ kind, name, nodes: named, failures, nextAt }) => {
    return [kind, name, String(named), String(failures), whenText(nextAt, now)];
  });
  const parts = [
    renderTable(['SOURCE', 'NAME', 'NODES', 'FAILURES', 'NEXT'], rows),
    `${counted(nodeCount, 'node')}, ${counted(total, 'catalog')}${total > 0 ? `: ${states}` : ''}`,
    ...(nodes.length > 0 ? [renderNodes(nodes, now)] : []),
    ...(next.length > 0 ? [renderNext(next, now)] : []),
  ];
  return parts.join('\n\n');
}

function renderNodes(nodes: CrawlStatus['nodes'], now: Date): string {
  const header = ['NODE', 'HOST', 'INDEXES', 'CATALOGS', 'SERVED', 'FAILURES', 'CHECKED', 'NEXT'];
  return renderTable(
    header,
    nodes.map(({ node, host, indexes, catalogs, served, failures, checkedAt, nextAt }) => [
      ...[node, host, ...[indexes, catalogs, served, failures].map(String)],
      ...[checkedAt, nextAt].map((time) => whenText(time, now)),
    ]),
  );
}

export function renderNext(next: readonly NextWork[], now: Date): string {
  const rows = next.map(({ what, name, node, at }) => {
    const where = what === 'index' ? name : (node ?? name);
    return [what === 'catalog' ? `catalog ${name}` : what, where, whenText(at, now)];
  });
  return renderTable(['NEXT TASK', 'WHERE', 'WHEN'], rows);
}

export function renderCatalogs(catalogs: readonly CatalogStatus[], now: Date): string {
  const header = ['CATALOG', 'TYPE', 'STATE', 'VERSION', 'ENTRY', 'RESOURCES'];
  return renderTable(
    [...header, 'LAST REASON', 'FAILURES', 'NEXT'],
    catalogs.map((one) => [
      ...[one.catalogId, one.type, stateText(one), String(one.version ?? '-'), entryText(one)],
      ...[String(one.resources), one.lastCode ?? '-', String(one.failures), whenText(one.nextAt, now)],
    ]),
  );
}

function stateText({ state, waitingFor }: CatalogStatus): string {
  const [first, ...more] = waitingFor ?? [];
  if (first === undefined) return state;
  return `${state} (${first}${more.length > 0 ? ` and ${more.length} more` : ''})`;
}

function entryText({ entryVersion, appliedEntryVersion }: CatalogStatus): string {
  if (entryVersion === null || entryVersion === appliedEntryVersion)
    return String(appliedEntryVersion ?? '-');
  return `${appliedEntryVersion ?? '-'} of ${entryVersion}`;
}

/** `now`, `in 4 s`, `12 min ago`. */
export function whenText(time: Date | null, now: Date): string {
  if (time === null) return '-';
  const seconds = Math.round((time.getTime() - now.getTime()) / 1000);
  if (seconds === 0) return 'now';
  const text = durationText(Math.abs(seconds));
  return seconds > 0 ? `in ${text}` : `${text} ago`;
}

function durationText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 2 * 3600) return `${Math.round(seconds / 60)} min`;
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}
