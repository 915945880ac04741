import { post } from '../api/client.ts';
import { attempt } from './toasts.tsx';

export function crawlNow(node: string): Promise<boolean> {
  return attempt(async () => {
    await post('/api/crawl/now', { node });
    return `The crawler reads ${node} now.`;
  });
}
