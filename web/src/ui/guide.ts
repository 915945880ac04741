import type { PageName } from '../router.ts';

/** The guide of each page, in docs/. The console serves them. */
export const guides: Record<PageName, string> = {
  find: 'query-as-an-app.md',
  inspect: 'self-hosting.md',
  publish: 'publishing.md',
  debug: 'troubleshooting.md',
  network: 'operating.md',
  health: 'observability.md',
};

export function guideUrl(file: string): string {
  return `guides/${file}`;
}
