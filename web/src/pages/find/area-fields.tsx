import { useState } from 'preact/hooks';
import { session } from '../../api/session.ts';
import { usualMeters } from '../../map/draw.ts';
import type { FindQuery } from '../../search/query.ts';
import { Icon } from '../../ui/icon.tsx';
import { spellMeters } from '../../ui/time.tsx';
import { changeQuery } from './change-query.ts';
import type { Drawing } from './find-map.tsx';

/** The area of a search, drawn on the map or typed as centre and radius, which needs no pointer. */
export function AreaFields({
  query,
  drawing,
  draw,
}: {
  query: FindQuery;
  drawing?: Drawing;
  draw(drawing: Drawing | undefined): void;
}) {
  const [typing, setTyping] = useState(false);
  const toggle = (kind: Drawing) => draw(drawing === kind ? undefined : kind);
  return (
    <div class="area-fields">
      <div class="row">
        <button
          type="button"
          class="small"
          aria-pressed={drawing === 'circle'}
          onClick={() => toggle('circle')}
        >
          <Icon name="circle" /> Draw a circle
        </button>
        <button
          type="button"
          class="small"
          aria-pressed={drawing === 'polygon'}
          onClick={() => toggle('polygon')}
        >
          <Icon name="polygon" /> Draw a polygon
        </button>
        <button
          type="button"
          class="small"
          aria-pressed={typing}
          aria-expanded={typing}
          onClick={() => setTyping(!typing)}
        >
          By numbers
        </button>
      </div>
      <p class="soft small" role="status">
        {drawing === 'circle' && 'Press at the centre and drag. Escape stops.'}
        {drawing === 'polygon' &&
          'Click corner after corner; a double click, Enter or the first corner closes it. Escape stops.'}
        {!drawing && query.area && (
          <>
            {spellArea(query)}{' '}
            <button type="button" class="link" onClick={() => changeQuery(query, { area: undefined })}>
              Remove the area
            </button>
          </>
        )}
      </p>
      {typing && <CircleFields query={query} />}
    </div>
  );
}

function spellArea({ area }: FindQuery): string {
  if (area?.kind === 'circle') {
    return `Within ${spellMeters(area.meters)} of ${area.latitude.toFixed(4)}, ${area.longitude.toFixed(4)}.`;
  }
  return `Within a polygon of ${area?.corners.length ?? 0} corners.`;
}

function CircleFields({ query }: { query: FindQuery }) {
  const circle = query.area?.kind === 'circle' ? query.area : undefined;
  const [centerLatitude, centerLongitude] = session.value?.demoCity?.center ?? [0, 0];
  const [latitude, setLatitude] = useState(String(circle?.latitude ?? centerLatitude));
  const [longitude, setLongitude] = useState(String(circle?.longitude ?? centerLongitude));
  const [meters, setMeters] = useState(String(circle?.meters ?? usualMeters));
  const apply = () => {
    const area = {
      kind: 'circle' as const,
      latitude: Number(latitude),
      longitude: Number(longitude),
      meters: Number(meters),
    };
    const holds = Math.abs(area.latitude) <= 90 && Math.abs(area.longitude) <= 180 && area.meters > 0;
    if (holds) changeQuery(query, { area });
  };
  return (
    <fieldset class="circle-fields">
      <legend class="hidden">Circle by numbers</legend>
      <NumberInput label="Latitude" value={latitude} set={setLatitude} min={-90} max={90} />
      <NumberInput label="Longitude" value={longitude} set={setLongitude} min={-180} max={180} />
      <NumberInput label="Radius (m)" value={meters} set={setMeters} min={1} max={20_000_000} />
      <button type="button" onClick={apply}>
        Search here
      </button>
    </fieldset>
  );
}

function NumberInput(props: {
  label: string;
  value: string;
  set(value: string): void;
  min: number;
  max: number;
}) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <input
        type="number"
        step="any"
        min={props.min}
        max={props.max}
        value={props.value}
        onInput={(event) => props.set(event.currentTarget.value)}
      />
    </label>
  );
}
