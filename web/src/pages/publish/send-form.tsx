import { useState } from 'preact/hooks';
import { session } from '../../api/session.ts';
import { Code } from '../../ui/code.tsx';
import type { Way } from './api.ts';

/** Which of both ways this process can publish is its settings' matter; for the other one the page gives the command. */
export function SendForm({ ready, busy, send }: { ready: boolean; busy: boolean; send(way: Way): void }) {
  const { can, identities } = session.value ?? {};
  const [chosen, setChosen] = useState<Way>();
  const way = chosen ?? (can?.publishToService === false && can.publishFiles ? 'files' : 'service');
  const possible = way === 'service' ? can?.publishToService : can?.publishFiles;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        send(way);
      }}
    >
      <fieldset class="ways">
        <legend class="hidden">Way of publishing</legend>
        <label class="choice">
          <input type="radio" name="way" checked={way === 'service'} onChange={() => setChosen('service')} />
          <span>
            Through the catalog service <span class="soft small">{identities?.catalog?.id}</span>
          </span>
        </label>
        <label class="choice">
          <input type="radio" name="way" checked={way === 'files'} onChange={() => setChosen('files')} />
          <span>
            As signed files <span class="soft small">{identities?.publisher?.id}</span>
          </span>
        </label>
      </fieldset>
      {possible === false ? (
        <>
          <p class="soft small">This process has no identity to publish this way. Where it is, run:</p>
          <Code text={commands[way]} label="command to publish" />
        </>
      ) : (
        <button type="submit" class="primary" disabled={!ready || busy}>
          {busy ? 'Publishing …' : 'Publish'}
        </button>
      )}
    </form>
  );
}

const commands: Record<Way, string> = {
  service: 'npx signpost publish catalog.json --to https://catalog.example.org',
  files: 'npx signpost publish catalog.json',
};
