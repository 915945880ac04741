import { post } from '../api/client.ts';
import { attempt } from './toasts.tsx';

/** Has the crawler read a node at once, and tells how that went. */
export function crawlNow(node: string): Promise<boolean> {
  return attempt(async () => {
    await post('/api/crawl/now', { node });
    return `The crawler reads ${node} now.`;
  });
}
