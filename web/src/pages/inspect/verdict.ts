import type { ChainLink, Inspection } from '../../../../src/console/answers/inspect.ts';

export function chainOf(chain: readonly ChainLink[], catalogId: string | undefined): ChainLink[] {
  return chain.filter((link) => link.catalogId === undefined || link.catalogId === catalogId);
}

type Judged = Pick<Inspection, 'verdict' | 'kind' | 'catalogs'>;

export function titleVerdict({ verdict, kind, catalogs }: Judged): string {
  const found = catalogs.filter((one) => one.verdict !== 'not').length;
  if (kind === 'node' && found < catalogs.length)
    return `${found} of ${catalogs.length} catalogs discoverable`;
  return titles[verdict];
}

const titles = {
  discoverable: 'Discoverable',
  warnings: 'Discoverable, with warnings',
  not: 'Not discoverable',
};

/** The reason for a bad verdict: the broken link of the chain, with its catalog. The chain shows expected and actual values. */
export function explainVerdict(chain: readonly ChainLink[], because?: string, { naming = false } = {}) {
  const worst =
    chain.find(({ state }) => state === 'broken') ?? chain.find(({ state }) => state === 'warning');
  if (worst === undefined) return because;
  const { catalogId, state, title, code, expected, detail } = worst;
  const subject = naming && catalogId !== undefined ? `The chain of ${catalogId}` : 'The chain';
  const place = state === 'broken' ? `breaks at “${title}”` : `is complete, with a warning at “${title}”`;
  const reason = expected === undefined ? `: ${detail}` : code === undefined ? '.' : ` (${code}).`;
  return `${subject} ${place}${reason}`;
}
