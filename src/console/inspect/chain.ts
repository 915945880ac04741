import type { Finding } from '../../discovery/inspect/findings.ts';
import type { ChainLink, InspectedCatalog, Inspection } from '../answers/inspect.ts';

// Turns the findings of a walk into the links of a chain for the page, and judges from them whether the subject can be found. Pure.

const titles = {
  registry: 'Registry',
  membership: 'Network membership',
  manifest: 'Manifest',
  record: 'Subscriber record',
  index: 'Catalog index',
  entry: 'Index entry',
  files: 'Signed files',
  publish: 'Publish',
  stored: 'Catalog service',
  push: 'Push',
  indexed: 'Search index',
};
type LinkName = keyof typeof titles;

const nodeNames = ['registry', 'membership', 'manifest', 'record', 'index'] as const;
const nodeLinks: readonly string[] = nodeNames;

export function link(name: LinkName, state: ChainLink['state'], detail: string, more?: Partial<ChainLink>) {
  return { link: name, state, title: titles[name], detail, ...more };
}

export type Fetches = ReadonlyMap<string, { bytes: number; at: Date }>;

/** The links of a self-hosted node up to the files, in their order; those after a broken link are unseen. */
export function buildChain(findings: readonly Finding[], fetches: Fetches): ChainLink[] {
  const chain: ChainLink[] = [];
  for (const finding of findings) {
    for (const next of linksOf(finding, fetches)) {
      const known = chain.find(
        (each) => each.link === next.link && each.catalogId === next.catalogId && isSamePlace(each, next),
      );
      if (known) join(known, next);
      else chain.push(next);
    }
  }
  const ofNode = nodeLinks.flatMap((name) => chain.filter((each) => each.link === name));
  const rest = chain.filter((each) => !nodeLinks.includes(each.link));
  return [...ofNode, ...missingLinks(chain), ...rest];
}

function linksOf(finding: Finding, fetches: Fetches): ChainLink[] {
  const { catalogId, url, key, files = [], entryVersion } = finding;
  const name = linkNameOf(finding);
  const place = name === 'files' ? (files[0] ?? url) : url;
  const fetched = (name === 'files' ? files : url === undefined ? [] : [url]).flatMap(
    (one) => fetches.get(one) ?? [],
  );
  const signed = key === undefined ? {} : { key };
  // Without undefined values, so that merging links keeps existing members.
  const common: Partial<ChainLink> = {
    ...(catalogId !== undefined && { catalogId }),
    ...(place !== undefined && { url: place }),
    ...signed,
    ...(fetched.length > 0 && {
      bytes: fetched.reduce((sum, { bytes }) => sum + bytes, 0),
      at: fetched.at(-1)?.at.toISOString(),
    }),
  };
  const judged =
    finding.kind === 'holds'
      ? link(name, 'ok', finding.detail, common)
      : link(name, finding.kind === 'fault' ? 'broken' : 'warning', finding.message, {
          ...{ ...common, code: finding.code, hint: finding.hint, ...finding.compared },
        });
  // The files are only checked if the entry is valid.
  if (name !== 'files' || entryVersion === undefined) return [judged];
  return [link('entry', 'ok', `signed, entryVersion ${entryVersion}`, { catalogId, ...signed }), judged];
}

/** Reasons in the entry, not in the files. */
const entryCodes = ['not-a-member', 'not-relevant', 'master-not-allowed', 'not-listed', 'retired', 'paused'];

function linkNameOf(finding: Finding): LinkName {
  switch (finding.document) {
    case 'network':
      return 'membership';
    case 'digests':
      return 'record';
    case 'baseline':
    case 'change':
      return 'files';
    case 'catalog':
      return finding.kind !== 'holds' && entryCodes.includes(finding.code) ? 'entry' : 'files';
    default:
      return finding.document;
  }
}

function isSamePlace(known: ChainLink, next: ChainLink): boolean {
  return (
    known.link !== 'index' || known.url === undefined || next.url === undefined || known.url === next.url
  );
}

const severity: Record<ChainLink['state'], number> = { unseen: 0, ok: 1, warning: 2, broken: 3 };

/** The more severe state provides the advice. */
function join(known: ChainLink, next: ChainLink): void {
  const [first, second] = severity[next.state] > severity[known.state] ? [next, known] : [known, next];
  const detail = [first.detail, second.detail].filter((text, at, all) => all.indexOf(text) === at).join(' ');
  Object.assign(known, { ...second, ...first, detail });
}

function missingLinks(chain: readonly ChainLink[]): ChainLink[] {
  const isBroken = chain.some(({ link: name, state }) => nodeLinks.includes(name) && state === 'broken');
  if (!isBroken) return [];
  return [...nodeNames, 'entry' as const, 'files' as const]
    .filter((name) => !chain.some((each) => each.link === name))
    .map((name) => link(name, 'unseen', 'Crawlers do not get this far: an earlier link is broken.'));
}

type Verdict = Pick<Inspection, 'verdict' | 'because' | 'nextStep'>;
export type SeenCatalog = Omit<InspectedCatalog, keyof Verdict>;

/** A served catalog can be found, even if its live state is broken. */
export function judge(
  chain: readonly ChainLink[],
  seen: readonly SeenCatalog[],
): Verdict & { catalogs: InspectedCatalog[] } {
  const catalogs = seen.map((one) => ({
    ...one,
    ...judgeLinks(chain.filter(({ catalogId }) => catalogId === undefined || catalogId === one.catalogId)),
  }));
  const isFound = catalogs.some(({ verdict }) => verdict !== 'not');
  const isWell = catalogs.every(({ verdict }) => verdict === 'discoverable');
  const worst = findWorst(chain);
  if (!isFound) return { verdict: 'not', ...explain(worst), catalogs };
  return isWell && worst === undefined
    ? { verdict: 'discoverable', catalogs }
    : { verdict: 'warnings', ...explain(worst), catalogs };
}

function judgeLinks(links: readonly ChainLink[]): Verdict {
  const worst = findWorst(links);
  const isServed = links.some(
    ({ link: name, state, code }) =>
      name === 'indexed' && (state === 'ok' || (state === 'warning' && code !== 'paused')),
  );
  if (!isServed) return { verdict: 'not', ...explain(worst) };
  return worst ? { verdict: 'warnings', ...explain(worst) } : { verdict: 'discoverable' };
}

function findWorst(links: readonly ChainLink[]): ChainLink | undefined {
  return links.find(({ state }) => state === 'broken') ?? links.find(({ state }) => state === 'warning');
}

function explain(worst: ChainLink | undefined): Omit<Verdict, 'verdict'> {
  if (!worst) return {};
  const { link: name, state, detail, hint, catalogId } = worst;
  const isContent = state === 'broken' && ['entry', 'files'].includes(name) && catalogId !== undefined;
  const steps = [
    ...(isContent ? [`Publish ${catalogId} again.`] : []),
    ...(hint === undefined ? [] : [hint]),
  ];
  return { because: detail, ...(steps.length > 0 && { nextStep: steps.join(' ') }) };
}
