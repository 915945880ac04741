import { useState } from 'preact/hooks';
import { session } from '../../api/session.ts';
import { usualMeters } from '../../map/draw.ts';
import type { FindQuery } from '../../search/query.ts';
import { Icon } from '../../ui/icon.tsx';
import { spellMeters } from '../../ui/time.tsx';
import { changeQuery } from './change-query.ts';
import type { Drawing, DrawProps } from './find-map.tsx';

const kinds = ['circle', 'polygon'] as const;
const hints: Record<Drawing, string> = {
  circle:
    'Drag from the centre. By keyboard: arrow keys move the map, Space sets the centre, Enter finishes. Escape cancels.',
  polygon:
    'Click each corner; a double click, or a click on the first corner, closes the polygon. By keyboard: arrow keys move the map, Space sets a corner, Enter closes. Escape cancels.',
};

export function AreaFields({ query, drawing, draw }: DrawProps) {
  const [typing, setTyping] = useState(false);
  return (
    <div class="area-fields">
      <div class="row">
        {kinds.map((kind) => (
          <button
            key={kind}
            type="button"
            class="small"
            aria-pressed={drawing === kind}
            onClick={() => draw(drawing === kind ? undefined : kind)}
          >
            <Icon name={kind} /> Draw a {kind}
          </button>
        ))}
        <button
          type="button"
          class="small"
          aria-pressed={typing}
          aria-expanded={typing}
          onClick={() => setTyping(!typing)}
        >
          Enter coordinates
        </button>
      </div>
      <p class="soft small" role="status">
        {drawing && hints[drawing]}
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
  if (area?.kind === 'circle')
    return `Within ${spellMeters(area.meters)} of ${area.latitude.toFixed(4)}, ${area.longitude.toFixed(4)}.`;
  return `Within a polygon of ${area?.corners.length ?? 0} corners.`;
}

const numbers = [
  { name: 'latitude', label: 'Latitude', min: -90, max: 90 },
  { name: 'longitude', label: 'Longitude', min: -180, max: 180 },
  { name: 'meters', label: 'Radius (m)', min: 1, max: 20_000_000 },
] as const;

function CircleFields({ query }: { query: FindQuery }) {
  const [latitude, longitude] = session.value?.demoCity?.center ?? [0, 0];
  const [circle, setCircle] = useState(
    query.area?.kind === 'circle'
      ? query.area
      : { kind: 'circle' as const, latitude, longitude, meters: usualMeters },
  );
  const holds = numbers.every(({ name, min, max }) => circle[name] >= min && circle[name] <= max);
  return (
    <fieldset class="circle-fields">
      <legend class="hidden">Circle by coordinates</legend>
      {numbers.map(({ name, label, min, max }) => (
        <label key={name} class="field">
          <span>{label}</span>
          <input
            type="number"
            step="any"
            min={min}
            max={max}
            defaultValue={String(circle[name])}
            onInput={({ currentTarget }) => setCircle({ ...circle, [name]: currentTarget.valueAsNumber })}
          />
        </label>
      ))}
      <button type="button" disabled={!holds} onClick={() => changeQuery(query, { area: circle })}>
        Search here
      </button>
    </fieldset>
  );
}
