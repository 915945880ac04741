import { useState } from 'preact/hooks';
import { useLoad } from '../../api/load.ts';
import { session } from '../../api/session.ts';
import { Code } from '../../ui/code.tsx';
import { Loading } from '../../ui/states.tsx';
import { readFeeds, type Way } from './api.ts';

/** This process publishes in the ways that its roles allow; for the other way the page gives the command. */
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
        if (!busy) send(way);
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
          <p class="soft small">This process has no identity to publish this way. On its machine, run:</p>
          {way === 'service' ? <ServiceCommand /> : <Code text={command} label="command to publish" />}
        </>
      ) : (
        // Not disabled while it publishes: the dialog that asks for the token gives the focus back to it.
        <button type="submit" class="primary" disabled={!ready} aria-disabled={busy}>
          {busy ? 'Publishing …' : 'Publish'}
        </button>
      )}
    </form>
  );
}

const command = 'npx signpost publish catalog.json';

/** The catalog service of this process, or the first one that its discovery service follows. */
function ServiceCommand() {
  const own = session.value?.identities.catalog?.url;
  const followed = useLoad(own === undefined ? 'feeds' : undefined, readFeeds);
  const url = own ?? followed.data?.items[0]?.catalogUrl;
  if (own === undefined && followed.loading) return <Loading what="address of the catalog service" />;
  return (
    <>
      <Code text={`${command} --to ${url ?? 'ADDRESS'}`} label="command to publish" />
      {url === undefined && (
        <p class="soft small">ADDRESS is that of your catalog service: this process knows none.</p>
      )}
    </>
  );
}
