import type { Feed } from '../../../../src/console/answers/network.ts';
import { useGet } from '../../api/load.ts';
import { session } from '../../api/session.ts';
import { Code } from '../../ui/code.tsx';
import { onSubmit } from '../../ui/on-submit.ts';
import { Loading } from '../../ui/states.tsx';

const ways = [
  { name: 'service', label: 'Through the catalog service', role: 'catalog' },
  { name: 'files', label: 'As signed files', role: 'publisher' },
] as const;
export type Way = (typeof ways)[number]['name'];

interface SendProps {
  ready: boolean;
  busy: boolean;
  chosen?: Way;
  choose(way: Way): void;
  as?: string;
  chooseAs(id: string): void;
  send(way: Way): void;
}

/** This process publishes in the ways of its roles; for the other way, the page shows the command. */
export function SendForm({ ready, busy, chosen, choose, as, chooseAs, send }: SendProps) {
  const { can, identities, publishers = [] } = session.value ?? {};
  const way = chosen ?? (can?.publishToService === false && can.publishFiles ? 'files' : 'service');
  const possible = way === 'service' ? can?.publishToService : can?.publishFiles;
  return (
    <form class="stack" onSubmit={onSubmit(() => !busy && send(way))}>
      <fieldset class="ways">
        <legend class="hidden">Way of publishing</legend>
        {ways.map(({ name, label, role }) => (
          <label key={name} class="choice">
            <input type="radio" name="way" checked={way === name} onChange={() => choose(name)} />
            <span>
              {label} <span class="soft small">{identities?.[role]?.id}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {way === 'service' && possible !== false && publishers.length > 1 && (
        <label>
          <span>Signed by</span>
          <select value={as} onChange={(event) => chooseAs(event.currentTarget.value)}>
            {publishers.map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        </label>
      )}
      {possible === false ? (
        <>
          <p class="soft small">This process has no key for this. On the machine that has it, run:</p>
          {way === 'service' ? <ServiceCommand /> : <Code text={command} label="command to publish" />}
        </>
      ) : (
        // Stays enabled during a publish: the token dialog returns the focus to it.
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
  const followed = useGet<{ items: Feed[] }>(own === undefined ? '/api/feeds' : undefined);
  const url = own ?? followed.data?.items[0]?.catalogUrl;
  if (own === undefined && followed.loading) return <Loading what="address of the catalog service" />;
  return (
    <>
      <Code text={`${command} --to ${url ?? 'ADDRESS'}`} label="command to publish" />
      {url === undefined && (
        <p class="soft small">Replace ADDRESS with the address of your catalog service.</p>
      )}
    </>
  );
}
