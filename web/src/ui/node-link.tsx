import { hrefTo } from '../router.ts';

export function NodeLink({ node }: { node: string }) {
  return (
    <a href={hrefTo('inspect', { q: node })}>
      <Identity of={node} />
    </a>
  );
}

/** The identity of a participant in two lines: its subscriberId and its registry. An address stays in one line. */
export function Identity({ of }: { of: string }) {
  const at = of.indexOf('/');
  if (at === -1 || of.includes('://')) return <>{of}</>;
  return (
    <>
      {of.slice(0, at)}
      <span class="soft small block">{of.slice(at + 1)}</span>
    </>
  );
}
