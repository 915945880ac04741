import { hash } from 'node:crypto';

// Where things stand in the published tree. Readers follow URLs and depend on none of this.

export const defaultIndexName = 'catalogs';

export type FileKind = 'baseline' | 'change';

export const folders: Readonly<Record<FileKind | 'index', string>> = {
  index: 'index',
  baseline: 'catalogs',
  change: 'catalogs/changes',
};
const indexSuffix = '.index.json';

/** A catalog's files have a readable name, but it is the hash that tells two ids apart, also where a file system ignores case. */
export function localName(catalogId: string): string {
  const lastSegment = catalogId.split(/[/:#]/).findLast((segment) => segment !== '') ?? '';
  const readable = lastSegment
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return `${readable || 'catalog'}-${hash('sha256', catalogId, 'hex').slice(0, 20)}`;
}

/** The digest in the name sees to it that no URL ever has two contents. */
export function contentPath(
  kind: FileKind,
  file: { catalogId: string; version: number; sha256: string; isGzipped: boolean },
): string {
  const { catalogId, version, sha256, isGzipped } = file;
  const stem = `${localName(catalogId)}.v${version}.${sha256.slice(0, 12)}`;
  const marked = kind === 'change' ? `${stem}.changes` : stem;
  return `${folders[kind]}/${marked}${isGzipped ? '.json.gz' : '.json'}`;
}

export interface ContentFile {
  kind: FileKind;
  path: string;
  /** The same for all files of one catalog, different for every other catalog. */
  local: string;
  version: number;
}

/** Parses the name of a file in one of the two folders; undefined if it is not one of ours. */
export function findContentFile(kind: FileKind, name: string): ContentFile | undefined {
  const match = /^(.+)\.v(\d+)\.[0-9a-f]{12}(\.changes)?\.json(?:\.gz)?$/.exec(name);
  if (!match || (match[3] !== undefined) !== (kind === 'change')) return undefined;
  const [, local = '', version] = match;
  return { kind, path: `${folders[kind]}/${name}`, local, version: Number(version) };
}

/** The path behind a URL of an entry, whatever base address it was published under. */
export function pathOfUrl(kind: FileKind, url: string): string {
  const name = new URL(url).pathname.split('/').at(-1) ?? '';
  return `${folders[kind]}/${name}`;
}

export function indexPath(name: string): string {
  return `${folders.index}/${name}${indexSuffix}`;
}

/** The name of an index; undefined for a file that is none. */
export function indexNameOf(fileName: string): string | undefined {
  const name = fileName.endsWith(indexSuffix) ? fileName.slice(0, -indexSuffix.length) : '';
  return isIndexName(name) ? name : undefined;
}

export function isIndexName(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(name);
}

export function urlOf(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/+$/, '')}/${path}`;
}
