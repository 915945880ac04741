import type { HostedDocument } from '../../rules/self-hosted/faults.ts';
import { readIndex } from '../crawl/read-index.ts';
import { nodeFileLimits } from '../crawl/read-node.ts';
import { askRegistry, fetchDocument, findKeys, type Reader } from '../crawl/reader.ts';
import type { TreeReader } from './tree-reader.ts';

/** Verifies with the parts of the crawler, and under its limits. */
export function readAsCrawler(reader: Reader, signal: AbortSignal): TreeReader {
  const { maxIndexBytes, maxFileBytes } = reader.limits;
  const limitsOf = (document: HostedDocument) => {
    if (document === 'index') return { maxBytes: maxIndexBytes };
    const isOfCatalog = document === 'baseline' || document === 'change';
    return isOfCatalog ? { maxBytes: maxFileBytes } : nodeFileLimits;
  };
  return {
    ...reader,
    async open(document, url, digest) {
      const answer = await fetchDocument(reader, document, url, { ...limitsOf(document), digest, signal });
      return answer.kind === 'opened' ? answer : undefined;
    },
    async readIndex(node, url) {
      const reading = await readIndex(reader, node, url, { signal });
      if (reading.kind === 'read') return reading;
      throw new Error('an index that was not known before cannot be unchanged');
    },
    findKeys: (node, claimed) => findKeys(reader, node, claimed),
    findSubscriber: (identity) => askRegistry(() => reader.registry.findSubscriber(identity)),
  };
}
