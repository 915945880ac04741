import { counted } from '../../counted.ts';
import type { BaselineReference, ChangeReference, IndexEntry } from '../../protocol/signed-files.ts';
import { assembleCatalog, describeGap } from '../../rules/self-hosted/assemble.ts';
import type { CatalogContent } from '../../rules/self-hosted/content.ts';
import type { OpenedDocument } from '../../rules/self-hosted/open-document.ts';
import { claimedRecordId, type HostingNode } from '../../rules/self-hosted/signer.ts';
import { type FileReader, trustBaseline, trustChange } from '../../rules/self-hosted/trust-files.ts';
import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import { CrawlFault } from '../crawl/reasons.ts';
import { type Finding, fault, holds, warning } from './findings.ts';
import { openNamed, type TreeReader } from './tree-reader.ts';

// One catalog (self-hosted spec: Discovery crawl order, 5; Versioning): every file of its entry, and whether they lead to the announced version.

export interface CatalogCheck {
  reader: TreeReader;
  node: HostingNode;
  /** Whether bytes arrive as stored, without compression by a host. */
  isExact: boolean;
  /** Called with every valid catalog; a retired one has no content. */
  onCatalog?(entry: IndexEntry, content?: CatalogContent): void;
}

export async function verifyCatalog(check: CatalogCheck, trusted: TrustedEntry): Promise<Finding[]> {
  const { entry, signedBy } = trusted;
  const { catalogId, entryVersion, retiredAt, baseline, changes } = entry;
  const about = { document: 'catalog', catalogId } as const;
  const findings = [
    holds({ document: 'entry', catalogId }, `version ${entryVersion}, signed with ${signedBy}`),
  ];
  const read = createFileReader(check, trusted, findings);
  const baselineFile = baseline && (await read('baseline', baseline, trustBaseline));
  const changeFiles = new Map<ChangeReference, ReturnType<typeof trustChange>['file']>();
  for (const reference of changes) {
    const file = await read('change', reference, (opened, parts) => trustChange(opened, reference, parts));
    if (file) changeFiles.set(reference, file);
  }
  try {
    if (retiredAt !== undefined) {
      check.onCatalog?.(entry);
      findings.push(holds(about, `retired at ${retiredAt}`));
    } else if (baselineFile && changeFiles.size === changes.length) {
      const content = assembleCatalog(entry, baselineFile, changeFiles);
      if (!content) throw new CrawlFault('gap', describeGap(entry));
      check.onCatalog?.(entry, content);
      const { version, resources, offers } = content;
      const size = `${counted(resources.size, 'resource')}, ${counted(offers.size, 'offer')}`;
      findings.push(holds(about, `version ${version}: ${size}`, version));
    }
  } catch (error) {
    findings.push(fault(about, error));
  }
  return findings;
}

/** Reads one file of the catalog and records its findings; undefined if it is not trusted. */
function createFileReader(check: CatalogCheck, entry: TrustedEntry, findings: Finding[]) {
  const { reader, node, isExact } = check;
  const { catalogId } = entry.entry;
  return async <T>(
    document: 'baseline' | 'change',
    { url, digest, size, version }: BaselineReference | ChangeReference,
    trust: (opened: OpenedDocument, parts: FileReader) => { file: T; signedBy: string },
  ): Promise<T | undefined> => {
    const about = { document, catalogId, url };
    try {
      const { opened, bytes } = await openNamed(reader, document, url, digest);
      const keys = await reader.findKeys(node, [claimedRecordId(opened.document)]);
      const { file, signedBy } = trust(opened, { node, entry, keys, checker: reader.checker() });
      findings.push(holds(about, `version ${version}, ${bytes} bytes, signed with ${signedBy}`));
      if (isExact && size !== undefined && size !== bytes)
        findings.push(warning(about, 'size-mismatch', `The entry gives it ${size} bytes; it has ${bytes}.`));
      return file;
    } catch (error) {
      findings.push(fault(about, error));
      return undefined;
    }
  };
}
