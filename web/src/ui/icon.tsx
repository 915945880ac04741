/** Our line icons on a grid of 24. */
const paths = {
  signpost: 'M12 3v18M6 5h9l3 3-3 3H6zM18 13H9l-3 2.5L9 18h9z',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
  chain: 'M10 14a4 4 0 0 0 6 0l3-3a4.2 4.2 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4.2 4.2 0 0 0 6 6l1-1',
  upload: 'M12 16V4M7 9l5-5 5 5M4 16v4h16v-4',
  key: 'M15 4a5 5 0 1 1-4.6 7L4 17.5V20h3v-2h2v-2h2l1.6-1.6M16 8.5v.01',
  nodes:
    'M12 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM5 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM19 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM11 8l-5 8M13 8l5 8M7 18h10',
  pulse: 'M3 12h4l3-7 4 14 3-7h4',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  cross: 'M6 6l12 12M18 6L6 18',
  warning: 'M12 4l9 16H3zM12 10v4M12 17v.01',
  dash: 'M6 12h12',
  circle: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 12h.01',
  polygon: 'M5 8l8-4 7 6-3 10-11-2z',
  clock: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2',
  link: 'M14 5h5v5M19 5l-8 8M17 14v5H5V7h5',
  refresh: 'M20 11a8 8 0 1 0-2 6M20 5v6h-6',
} as const;
export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
