// Draws docs/images/house.svg, the picture in ARCHITECTURE.md, from the imports: node scripts/house-picture.mjs
//
// Rooms are the folders of src/, the client package and the page. An arrow leads from a room to one that it imports; arrows that follow from others
// are omitted. The layout is the usual one for layered graphs: an arrow that passes floors gets a slot on each, and slots move towards their
// neighbours.
import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importsIn, layers, leaves } from './house.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const beside = ['packages/client', 'web'];
const rooms = [...layers.flat(), ...beside];

// Lengths are in pixels.
const [width, floorHeight, roomHeight, margin] = [900, 62, 30, 24];
const [slotWidth, gap, letterWidth, padding] = [10, 22, 8, 26];

const height = margin + layers.length * floorHeight + 2 * roomHeight + margin;
/** Rounds of moving rooms towards their neighbours; more rounds change nothing visible. */
const rounds = 60;

const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif" font-size="14" text-anchor="middle">
  <title id="title">The rooms and floors of the source</title>
  <desc id="desc">Each folder of the source is a room on a floor. Arrows lead from a room to the rooms that it imports, and always down.</desc>
  <style>
    .page { fill: #f7f9fa; }
    .floor { stroke: #dde4e9; }
    .way { stroke: #55626f; fill: none; stroke-width: 1.2; marker-end: url(#tip); }
    .room { fill: #e3f2ee; stroke: #0b6e5c; }
    .beside { fill: #ffffff; stroke-dasharray: 4 3; }
    .cellar { fill: #ffffff; stroke: #b9c3cb; }
    text { fill: #17212b; font-weight: 600; }
    .small { fill: #55626f; font-weight: 400; font-size: 11.5px; }
    .tip { fill: #55626f; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #10171d; }
      .floor { stroke: #26323b; }
      .way { stroke: #9aa8b4; }
      .room { fill: #14332d; stroke: #5cc9b1; }
      .beside { fill: #151d24; }
      .cellar { fill: #151d24; stroke: #43525e; }
      text { fill: #e3eaef; }
      .small, .tip { fill: #9aa8b4; }
    }
  </style>
  <defs>
    <marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
      <path class="tip" d="M0 0l8 4-8 4z"/>
    </marker>
  </defs>
  <rect class="page" width="${width}" height="${height}" rx="8"/>`;

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  writeFileSync(join(root, 'docs/images/house.svg'), drawHouse(readArrows()));

/** The client package is right above discovery, its highest import, and the page above the console. */
export function floorOf(room) {
  if (room === 'packages/client') return floorOf('discovery') + 1;
  if (room === 'web') return floorOf('console') + 1;
  return layers.findIndex((layer) => layer.includes(room));
}

export function readArrows() {
  const found = new Map();
  for (const folder of ['src', ...beside.map((room) => join(room, 'src'))])
    for (const name of readdirSync(join(root, folder), { recursive: true })) {
      const file = join(folder, name);
      if (!/\.tsx?$/.test(file) || /\.test\.tsx?$/.test(file)) continue;
      const targets = importsIn(readFileSync(join(root, file), 'utf8')).filter((target) =>
        /^\..*\.tsx?$/.test(target),
      );
      const from = roomOf(file);
      for (const to of targets.map((target) => roomOf(normalize(join(dirname(file), target)))))
        if (from !== to && !leaves.includes(from) && !leaves.includes(to))
          found.set(`${from} ${to}`, { from, to });
    }
  return [...found.values()].sort((a, b) => (a.from + a.to < b.from + b.to ? -1 : 1));
}

function roomOf(path) {
  return beside.find((room) => path.startsWith(join(room, 'src'))) ?? path.split(sep)[1];
}

export function drawHouse(arrows) {
  const up = arrows.find(({ from, to }) => floorOf(to) === -1 || floorOf(to) >= floorOf(from));
  if (up) throw new Error(`${up.from} imports ${up.to}, which is on no lower floor.`);
  const boxes = new Map(rooms.map((room) => [room, makeBox(room)]));
  const ways = withoutImplied(arrows).map(({ from, to }) => {
    const passed = Array.from(
      { length: floorOf(from) - floorOf(to) - 1 },
      (_, step) => floorOf(from) - 1 - step,
    );
    const slots = passed.map((floor) => ({
      floor,
      width: slotWidth,
      x: (boxes.get(from).x + boxes.get(to).x) / 2,
    }));
    return [boxes.get(from), ...slots, boxes.get(to)];
  });
  place([...new Set([...boxes.values(), ...ways.flat()])], ways);
  return [
    head,
    ...layers.map((_, floor) => `  <path class="floor" d="M0 ${topOf(floor) + roomHeight}H${width}"/>`),
    ...ways.map(drawWay),
    ...[...boxes.values()].map(drawBox),
    drawCellar(),
    '</svg>\n',
  ].join('\n');
}

/** Omits arrows whose target is also reached by other arrows. */
function withoutImplied(arrows) {
  const targetsOf = (room) => arrows.filter(({ from }) => from === room).map(({ to }) => to);
  const reaches = (from, to) => targetsOf(from).some((next) => next === to || reaches(next, to));
  return arrows.filter(({ from, to }) => !targetsOf(from).some((next) => next !== to && reaches(next, to)));
}

function makeBox(room) {
  const floor = floorOf(room);
  const neighbours = rooms.filter((other) => floorOf(other) === floor);
  const x = (width * (neighbours.indexOf(room) + 1)) / (neighbours.length + 1);
  return { room, floor, x, width: room.length * letterWidth + padding };
}

/** Moves each box and slot to the middle of its neighbours, as far as the others on its floor allow. */
function place(all, ways) {
  const neighbours = new Map(all.map((one) => [one, []]));
  for (const way of ways)
    for (const [step, one] of way.slice(1).entries()) {
      neighbours.get(one).push(way[step]);
      neighbours.get(way[step]).push(one);
    }
  for (let round = 0; round < rounds; round++) {
    for (const one of all) one.wanted = mean([one.x, ...neighbours.get(one).map(({ x }) => x)]);
    for (const floor of layers.keys()) spread(all.filter((one) => one.floor === floor));
  }
}

/** Places the boxes of a floor side by side, in the order of their wanted positions, within the picture. */
function spread(floor) {
  floor.sort((a, b) => a.wanted - b.wanted);
  for (const one of floor) one.x = one.wanted;
  keepApart(floor, Number.NEGATIVE_INFINITY);
  const pushed = mean(floor.map(({ x, wanted }) => x - wanted));
  for (const one of floor) one.x -= pushed;
  keepApart(floor, margin - gap);
  for (const one of floor) one.x = width - one.x;
  keepApart(floor.toReversed(), margin - gap);
  for (const one of floor) one.x = width - one.x;
}

/** Moves each one to the right of the one before it. */
function keepApart(floor, start) {
  let end = start;
  for (const one of floor) {
    one.x = Math.max(one.x, end + gap + one.width / 2);
    end = one.x + one.width / 2;
  }
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

function topOf(floor) {
  return margin + (layers.length - 1 - floor) * floorHeight;
}

/** Draws curves from floor to floor, and straight lines past the rooms of a floor. */
function drawWay(way) {
  const steps = way.slice(1).map(({ x, floor }, step) => {
    const [from, top] = [Math.round(way[step].x), topOf(floor)];
    const [to, start] = [Math.round(x), topOf(floor) - floorHeight + roomHeight];
    const end = floor === way.at(-1).floor ? top - 1 : top;
    const bend = Math.round((start + end) / 2);
    return `C${from} ${bend} ${to} ${bend} ${to} ${end}${end === top ? `V${top + roomHeight}` : ''}`;
  });
  const [{ room: from, x, floor }, to] = [way[0], way.at(-1).room];
  return `  <path class="way" data-from="${from}" data-to="${to}" d="M${Math.round(x)} ${topOf(floor) + roomHeight}${steps.join('')}"/>`;
}

function drawBox({ room, floor, x, width }) {
  const [left, top] = [Math.round(x - width / 2), topOf(floor)];
  const kind = layers[floor].includes(room) ? 'room' : 'room beside';
  return `  <rect class="${kind}" x="${left}" y="${top}" width="${Math.round(width)}" height="${roomHeight}" rx="5"/><text x="${Math.round(x)}" y="${top + 20}">${room}</text>`;
}

/** Rooms that every floor may use, without arrows. */
function drawCellar() {
  const top = topOf(0) + floorHeight;
  const names = leaves.map((name) => name.replace(/\.ts$/, ''));
  const lines = [names.slice(0, names.length / 2), names.slice(names.length / 2)].map((line) =>
    line.join(', '),
  );
  return `  <rect class="cellar" x="${margin}" y="${top}" width="${width - 2 * margin}" height="${2 * roomHeight}" rx="5"/>
  <text class="small" x="${width / 2}" y="${top + 25}">used by every floor: ${lines[0]},</text>
  <text class="small" x="${width / 2}" y="${top + 45}">${lines[1]}</text>`;
}
