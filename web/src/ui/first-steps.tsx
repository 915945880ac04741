import { guideUrl, hrefTo } from '../router.ts';
import { Code } from './code.tsx';

export function FirstSteps() {
  return (
    <section class="state empty first-steps" aria-labelledby="first-steps-title">
      <h2 id="first-steps-title" class="state-title">
        This network has no catalog yet.
      </h2>
      <ol class="stack">
        <li>
          <a href={hrefTo('publish')}>Publish your first catalog</a>. The page has an example to start from.
        </li>
        <li>
          <a href={guideUrl('importing.md')}>Import a file</a>: a table, an OCPI export or GeoJSON.
          <Code label="command to import a file" text="npx signpost import FILE" />
        </li>
        <li>
          <a href={guideUrl('join-a-network.md')}>Connect a node</a>: register it here, and it can publish,
          subscribe or be crawled.
        </li>
      </ol>
    </section>
  );
}
