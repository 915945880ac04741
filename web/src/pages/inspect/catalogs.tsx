import { Badge, toneOf } from '../../ui/badge.tsx';
import { Ago } from '../../ui/time.tsx';
import type { Copy, InspectedCatalog } from './api.ts';

export function CatalogTable({
  catalogs,
  chosen,
  choose,
}: {
  catalogs: readonly InspectedCatalog[];
  chosen?: string;
  choose(catalogId: string): void;
}) {
  return (
    <table class="cards">
      <thead>
        <tr>
          <th scope="col">Catalog</th>
          <th scope="col">Verdict</th>
          <th scope="col">Indexed</th>
          <th scope="col">Live now</th>
          <th scope="col">Came by</th>
        </tr>
      </thead>
      <tbody>
        {catalogs.map(({ catalogId, verdict, because, indexedVersion, liveVersion, source }) => (
          <tr key={catalogId} class={catalogId === chosen ? 'chosen' : undefined}>
            <td data-label="Catalog">
              <button
                type="button"
                class="link"
                aria-pressed={catalogId === chosen}
                onClick={() => choose(catalogId)}
              >
                {catalogId}
              </button>
            </td>
            <td data-label="Verdict">
              <div>
                <Badge tone={toneOf(verdict)}>{verdict === 'not' ? 'not discoverable' : verdict}</Badge>
                {because && <p class="soft small">{because}</p>}
              </div>
            </td>
            <td data-label="Indexed">{indexedVersion ?? '–'}</td>
            <td data-label="Live now">{liveVersion ?? '–'}</td>
            <td data-label="Came by">{source}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function CopyTable({ copies }: { copies: readonly Copy[] }) {
  return (
    <table class="cards">
      <thead>
        <tr>
          <th scope="col">Discovery service</th>
          <th scope="col">Version</th>
          <th scope="col">Acknowledged</th>
          <th scope="col">State</th>
        </tr>
      </thead>
      <tbody>
        {copies.map(({ discovery, version, acknowledgedAt, state }) => (
          <tr key={discovery}>
            <td data-label="Discovery service">{discovery}</td>
            <td data-label="Version">{version ?? '–'}</td>
            <td data-label="Acknowledged">
              <Ago at={acknowledgedAt} />
            </td>
            <td data-label="State">
              <Badge tone={toneOf(state)}>{state}</Badge>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
