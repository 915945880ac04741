import type { Config } from '../../config.ts';
import type { Finding } from '../../discovery/inspect/findings.ts';
import { findCrawledVersions } from '../../storage/crawl/consistency.ts';
import type { Queryable } from '../../storage/database.ts';
import { CommandError } from '../command.ts';
import { verifyPlace } from '../verify/run.ts';
import type { Suspect } from './difference.ts';

// The files of a node: whether each of them holds, and whether the index has the versions that they lead to.

export interface TreeCheck {
  suspects: Suspect[];
  documents: number;
}

interface TreeTools {
  index: Queryable;
  config: Config;
  keys?: readonly string[];
}

/** Files that cannot be read or verified at all, as without their registry, are one difference: the rest is compared nevertheless. */
export async function compareTree(place: string, tools: TreeTools): Promise<TreeCheck> {
  return compareFiles(place, tools).catch((error) => {
    if (!(error instanceof CommandError)) throw error;
    const { message } = error;
    const suspect: Suspect = {
      ...{ kind: 'file', name: `files ${place}`, progress: message },
      message: `published files of ${place} were not compared. ${message}`,
    };
    return { suspects: [suspect], documents: 0 };
  });
}

async function compareFiles(place: string, { index, config, keys }: TreeTools): Promise<TreeCheck> {
  const findings: Finding[] = [];
  const node = await verifyPlace(place, { config, keys, onFinding: (finding) => findings.push(finding) });
  const crawled = await findCrawledVersions(index, node);
  const suspects = findings.flatMap((finding) => {
    if (finding.kind === 'fault') return [fileFault(node, finding)];
    const { document, catalogId } = finding;
    if (document !== 'catalog' || finding.kind !== 'holds' || catalogId === undefined) return [];
    // A node that this discovery service does not crawl has nothing in its index.
    if (crawled.size === 0 || finding.version === undefined) return [];
    return compareVersion(
      { node, catalogId, version: finding.version },
      crawled.get(catalogId)?.version ?? null,
    );
  });
  return { suspects, documents: findings.length };
}

function fileFault(node: string, { document, catalogId, url, message, code }: FaultyFile): Suspect {
  const name = [document, catalogId, url].filter((part) => part !== undefined).join(' ');
  return {
    ...{ kind: 'file', catalogId, name: `file ${node} ${name}`, progress: code },
    message: `published files of ${node}: ${name}: ${message} (${code})`,
  };
}

type FaultyFile = Extract<Finding, { kind: 'fault' | 'warning' | 'hidden' }>;

function compareVersion(
  { node, catalogId, version }: { node: string; catalogId: string; version: number },
  indexed: number | null,
): Suspect[] {
  if (indexed === version) return [];
  return [
    {
      ...{ kind: 'file-behind', catalogId, name: `tree ${node} ${catalogId}`, progress: String(indexed) },
      message: `catalog ${catalogId} of ${node} is at version ${version} in the published files, and ${indexed === null ? 'not in the index' : `at version ${indexed} in the index`}.`,
    },
  ];
}
