import type { BaselineReference, ChangeReference } from '../../protocol/signed-files.ts';
import {
  applyChangeFiles,
  type CatalogContent,
  type ContentPatch,
  contentOfBaseline,
  foldChanges,
} from '../../rules/self-hosted/content.ts';
import { openDocument } from '../../rules/self-hosted/open-document.ts';
import {
  type Cursor,
  planReading,
  type Reading,
  type ReadingPlan,
  type Rollback,
} from '../../rules/self-hosted/reading-plan.ts';
import { claimedRecordId, type HostingNode } from '../../rules/self-hosted/signer.ts';
import {
  type GenuineBaseline,
  type GenuineChange,
  judgeFile,
  type TrustedBaseline,
  type TrustedChange,
  trustBaseline,
  trustChange,
} from '../../rules/self-hosted/trust-files.ts';
import type { TrustedEntry } from '../../rules/self-hosted/trust-index.ts';
import { fetchServed, findKeys, inRoom, inTurns, keyFinder, mayBeLarge, type Reader } from './reader.ts';
import { CrawlFault, isReadingFault, passes, type ReadingFault } from './reasons.ts';
import type { FileTask } from './verify-thread.ts';

// The files from the cursor to the announced version of an entry (self-hosted spec: Endpoints, Cutover rule). The path is chosen again after each
// file: a change without a declared size may be large, and an invalid one is a gap, which the baseline fills.

export type ContentReading = { faults: ReadingFault[] } & (
  | { kind: 'rollback'; plan: Rollback }
  | Read<'full', CatalogContent>
  | Read<'patch' | 'nothing', ChangedContent>
);

interface Read<Kind, Content> {
  kind: Kind;
  complete: boolean;
  /** Content; for a patch, additions and replacements. */
  content: Content;
  /** Ids that a patch removes first. */
  removals: Record<'resources' | 'offers', ReadonlySet<string>>;
  keys: string[];
}

type ChangedContent = Omit<CatalogContent, 'members'> & Pick<ContentPatch, 'members'>;

export async function readContent(
  reader: Reader,
  node: HostingNode,
  entry: TrustedEntry,
  cursor: Cursor | undefined,
  signal: AbortSignal,
): Promise<ContentReading> {
  const { cutoverFraction } = reader;
  const fetchedSizes = new Map<string, number>();
  const unreadable = new Set<string>();
  const files: ReadFiles = { baselines: new Map(), changes: new Map() };
  const faults: ReadingFault[] = [];
  for (;;) {
    const plan = planReading(entry.entry, cursor, { cutoverFraction, fetchedSizes, unreadable });
    if (plan.kind === 'rollback') return { kind: 'rollback', plan, faults };
    const reading = plan.kind === 'gap' ? plan.readable : plan;
    const next = missingFile(reading, files);
    if (next === undefined) {
      const complete = plan.kind !== 'gap';
      if (!complete) faults.push(gapOf(entry, plan));
      return { ...combine(reading, files, cursor), complete, faults };
    }
    const { kind, reference } = next;
    const { url } = reference;
    try {
      const file = await fetchServed(reader, kind, url, { maxBytes: reader.limits.maxFileBytes, signal });
      fetchedSizes.set(url, file.wire.length);
      const read = await inRoom(reader, file, signal, (maxInflatedBytes) =>
        readFile(reader, { file, maxInflatedBytes, node, entry, kind, reference }, signal),
      );
      if (kind === 'baseline') files.baselines.set(reference, read as TrustedBaseline);
      else files.changes.set(reference, read as TrustedChange);
    } catch (error) {
      // A host that is down is no reason to use another file.
      if (!isReadingFault(error) || passes(error)) throw error;
      faults.push(error);
      unreadable.add(url);
    }
  }
}

type NextFile =
  | { kind: 'baseline'; reference: BaselineReference }
  | { kind: 'change'; reference: ChangeReference };

interface ReadFiles {
  baselines: Map<BaselineReference, TrustedBaseline>;
  changes: Map<ChangeReference, TrustedChange>;
}

function missingFile(reading: Reading, { baselines, changes }: ReadFiles): NextFile | undefined {
  if (reading.kind === 'nothing') return undefined;
  if (reading.kind === 'baseline' && !baselines.has(reading.baseline))
    return { kind: 'baseline', reference: reading.baseline };
  const reference = reading.changes.find((change) => !changes.has(change));
  return reference && { kind: 'change', reference };
}

export async function readFile(
  reader: Reader,
  task: Omit<FileTask, 'keys'>,
  signal: AbortSignal,
): Promise<TrustedBaseline | TrustedChange> {
  const { file, maxInflatedBytes, node, entry, kind, reference } = task;
  const checker = reader.checker();
  if (reader.aside && mayBeLarge(maxInflatedBytes)) {
    const genuine = await reader.aside.verifyFile(task, keyFinder(reader, node), signal);
    const judge = { node, entry, checker };
    return kind === 'baseline'
      ? inTurns(judgeFile(genuine as GenuineBaseline, judge))
      : inTurns(judgeFile(genuine as GenuineChange, judge));
  }
  const opened = openDocument(kind, file, { digest: reference.digest, maxInflatedBytes });
  const keys = await findKeys(reader, node, [claimedRecordId(opened.document)]);
  const parts = { node, entry, keys, checker };
  return kind === 'baseline'
    ? trustBaseline(opened, parts)
    : trustChange(opened, reference as ChangeReference, parts);
}

function combine(
  reading: Reading,
  { baselines, changes }: ReadFiles,
  cursor: Cursor | undefined,
):
  | Omit<Read<'full', CatalogContent>, 'complete'>
  | Omit<Read<'patch' | 'nothing', ChangedContent>, 'complete'> {
  const none = new Map<string, never>();
  const removals = { resources: new Set<string>(), offers: new Set<string>() };
  if (reading.kind === 'nothing') {
    const content = { version: cursor?.version ?? 0, members: {}, resources: none, offers: none };
    return { kind: 'nothing', content: { ...content, directives: none }, removals, keys: [] };
  }
  const read = reading.changes.map((change) => changes.get(change)).filter((change) => change !== undefined);
  const files = read.map(({ file }) => file);
  const signers = read.map(({ signedBy }) => signedBy);
  const baseline = reading.kind === 'baseline' ? baselines.get(reading.baseline) : undefined;
  if (baseline) {
    const content = applyChangeFiles(contentOfBaseline(baseline.file), files);
    return { kind: 'full', content, removals, keys: [...new Set([baseline.signedBy, ...signers])] };
  }
  const { toVersion: version, members, resources, offers, directives } = foldChanges(files);
  return {
    kind: 'patch',
    content: { version, members, resources: resources.upserts, offers: offers.upserts, directives },
    removals: { resources: resources.removals, offers: offers.removals },
    keys: [...new Set(signers)],
  };
}

function gapOf({ entry }: TrustedEntry, plan: Extract<ReadingPlan, { kind: 'gap' }>): CrawlFault {
  const reached = plan.reached === undefined ? 'none of it can be read' : `its files end at ${plan.reached}`;
  return new CrawlFault('gap', `${entry.catalogId} announces version ${plan.announced}, but ${reached}.`);
}
