import { readdirSync, readFileSync } from 'node:fs';

/** The unit of Linux: hundredths of a second. */
const msPerTick = 10;

/** The processor time, in ms, that a process and its descendants have used so far, including ended ones; undefined without /proc. */
export function processorTime(root) {
  let stats;
  try {
    stats = new Map(readdirSync('/proc').filter(isNumber).flatMap(readStat));
  } catch {
    return undefined;
  }
  let ticks = 0;
  for (const [id, stat] of stats) if (descendsFrom(stats, id, root)) ticks += stat.ticks;
  return ticks * msPerTick;
}

export function parentOf(id) {
  const [[, stat]] = readStat(String(id));
  return stat.parent;
}

function isNumber(name) {
  return /^\d+$/.test(name);
}

/** The program name, in parentheses, may contain blanks. */
function readStat(id) {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent] = fields;
    // User and system time of the process, then of its children that have ended.
    const ticks = fields.slice(11, 15).reduce((sum, part) => sum + part, 0);
    return [[Number(id), { parent, ticks }]];
  } catch {
    return [];
  }
}

function descendsFrom(stats, id, root) {
  for (let at = id; at > 1; at = stats.get(at)?.parent ?? 0) if (at === root) return true;
  return false;
}
