import type { ChainLink, InspectedCatalog, Inspection } from '../answers/inspect.ts';

// Decides from its chain whether the subject can be found. Pure.

type Verdict = Pick<Inspection, 'verdict' | 'because' | 'nextStep'>;
export type SeenCatalog = Omit<InspectedCatalog, keyof Verdict>;

/** A served catalog can be found, even if its live state is broken. */
export function judge(
  chain: readonly ChainLink[],
  seen: readonly SeenCatalog[],
): Verdict & { catalogs: InspectedCatalog[] } {
  const catalogs = seen.map((catalog) => ({
    ...catalog,
    ...judgeLinks(
      chain.filter(({ catalogId }) => catalogId === undefined || catalogId === catalog.catalogId),
    ),
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
    ({ link, state, code }) =>
      link === 'indexed' && (state === 'ok' || (state === 'warning' && code !== 'paused')),
  );
  if (!isServed) return { verdict: 'not', ...explain(worst) };
  return worst ? { verdict: 'warnings', ...explain(worst) } : { verdict: 'discoverable' };
}

function findWorst(links: readonly ChainLink[]): ChainLink | undefined {
  return links.find(({ state }) => state === 'broken') ?? links.find(({ state }) => state === 'warning');
}

function explain(worst: ChainLink | undefined): Omit<Verdict, 'verdict'> {
  if (!worst) return {};
  const { link, state, detail, hint, catalogId } = worst;
  const isContent = state === 'broken' && ['entry', 'files'].includes(link) && catalogId !== undefined;
  const steps = [
    ...(isContent ? [`Publish ${catalogId} again.`] : []),
    ...(hint === undefined ? [] : [hint]),
  ];
  return { because: detail, ...(steps.length > 0 && { nextStep: steps.join(' ') }) };
}
