import { hash } from 'node:crypto';

// The layout of the published tree. Readers follow URLs and do not depend on it.

export const defaultIndexName = 'catalogs';

export type FileKind = 'baseline' | 'change';

export const folders: Readonly<Record<FileKind | 'index', string>> = {
  index: 'index',
  baseline: 'catalogs',
  change: 'catalogs/changes',
};
const indexSuffix = '.index.json';

/** The name of a catalog's files is readable, but the hash distinguishes ids, even if a file system ignores case. */
export function localName(catalogId: string): string {
  const lastSegment = catalogId.split(/[/:#]/).findLast((segment) => segment !== '') ?? '';
  const readable = lastSegment
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return `${readable || 'catalog'}-${hash('sha256', catalogId, 'hex').slice(0, 20)}`;
}

/** The digest in the name ensures that a URL never has two contents. */
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
  /** The same for all files of one catalog, different for all other catalogs. */
  local: string;
  version: number;
}

/** Parses the name of a file in one of the two folders; undefined if it is not ours. */
export function findContentFile(kind: FileKind, name: string): ContentFile | undefined {
  const match = /^(.+)\.v(\d+)\.[0-9a-f]{12}(\.changes)?\.json(?:\.gz)?$/.exec(name);
  if (!match || (match[3] !== undefined) !== (kind === 'change')) return undefined;
  const [, local = '', version] = match;
  return { kind, path: `${folders[kind]}/${name}`, local, version: Number(version) };
}

/** The path of a URL in an entry, independent of its base address. */
export function pathOfUrl(kind: FileKind, url: string): string {
  const name = new URL(url).pathname.split('/').at(-1) ?? '';
  return `${folders[kind]}/${name}`;
}

export function indexPath(name: string): string {
  return `${folders.index}/${name}${indexSuffix}`;
}

/** The name of an index; undefined if the file is not one. */
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
