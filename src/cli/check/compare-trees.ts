import type { Config } from '../../config.ts';
import type { Finding } from '../../discovery/inspect/findings.ts';
import { type CatalogStatus, listCrawledCatalogs } from '../../storage/crawl/status.ts';
import type { Queryable } from '../../storage/database.ts';
import { CommandError } from '../command.ts';
import { verifyPlace } from '../verify/run.ts';
import type { Suspect } from './difference.ts';

// The files of a node: whether each of them holds, and whether the index has the versions that they lead to.

interface TreeTools {
  index: Queryable;
  config: Config;
  keys?: readonly string[];
}

/** Files that cannot be read or verified at all, as without their registry, are one difference: the rest is compared nevertheless. */
export async function compareTree(place: string, { index, config, keys }: TreeTools) {
  const findings: Finding[] = [];
  try {
    const node = await verifyPlace(place, { config, keys, onFinding: (finding) => findings.push(finding) });
    const crawled = new Map((await listCrawledCatalogs(index, node)).map((row) => [row.catalogId, row]));
    const suspects = findings.flatMap((finding) => compareFile(finding, node, crawled) ?? []);
    return { suspects, documents: findings.length };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const suspect: Suspect = {
      ...{ kind: 'file', name: `files ${place}`, progress: error.message },
      message: `published files of ${place} were not compared. ${error.message}`,
    };
    return { suspects: [suspect], documents: 0 };
  }
}

function compareFile(finding: Finding, node: string, crawled: CrawledVersions): Suspect | undefined {
  const { document, catalogId, url } = finding;
  if (finding.kind === 'fault') {
    const { message, code } = finding;
    const name = [document, catalogId, url].filter((part) => part !== undefined).join(' ');
    return {
      ...{ kind: 'file', catalogId, name: `file ${node} ${name}`, progress: code },
      message: `published files of ${node}: ${name}: ${message} (${code})`,
    };
  }
  // A node that this discovery service does not crawl has nothing in its index.
  if (document !== 'catalog' || finding.kind !== 'holds' || catalogId === undefined || crawled.size === 0)
    return undefined;
  const { version } = finding;
  const indexed = crawled.get(catalogId)?.version ?? null;
  if (version === undefined || indexed === version) return undefined;
  return {
    ...{ kind: 'file-behind', catalogId, name: `tree ${node} ${catalogId}`, progress: String(indexed) },
    message: `catalog ${catalogId} of ${node} is at version ${version} in the published files, and ${indexed === null ? 'not in the index' : `at version ${indexed} in the index`}.`,
  };
}

type CrawledVersions = ReadonlyMap<string, CatalogStatus>;
