import { hrefTo } from '../router.ts';
import { Identity } from './identity.tsx';

/** A node by its identity, as a link to its inspection. */
export function NodeLink({ node }: { node: string }) {
  return (
    <a href={hrefTo('inspect', { q: node })}>
      <Identity of={node} />
    </a>
  );
}
