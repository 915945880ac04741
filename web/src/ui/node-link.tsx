import { hrefTo } from '../router.ts';
import { Identity } from './identity.tsx';

export function NodeLink({ node }: { node: string }) {
  return (
    <a href={hrefTo('inspect', { q: node })}>
      <Identity of={node} />
    </a>
  );
}
