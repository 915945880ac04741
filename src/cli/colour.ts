import { styleText } from 'node:util';

// Colours for the person at a terminal. What a command prints carries marks; the very end of printing turns them into what a terminal takes, or takes them
// out. So whatever else could be a command to a terminal is escaped in between, and nobody's text can hold more than a colour.

const styles = { bold: 'bold', dim: 'dim', good: 'green', warn: 'yellow', bad: 'red' } as const;
type Style = keyof typeof styles;

/** Noncharacters, which Unicode keeps for such use inside of a program. */
const [open, close] = ['\ufdd0', '\ufdd1'];
const marked = new RegExp(`${open}(\\d)([^${open}${close}]*)${close}`, 'g');

export function paint(style: Style, text: string): string {
  return `${open}${Object.keys(styles).indexOf(style)}${text}${close}`;
}

export function plain(text: string): string {
  return text.replace(marked, '$2');
}

export function coloured(text: string): string {
  return text.replace(marked, (_, number: string, inner: string) =>
    // As a list: of a single style, Node asks whether its own standard output has colours.
    styleText([Object.values(styles)[Number(number)] ?? 'reset'], inner),
  );
}

const words: Record<Exclude<Style, 'bold' | 'dim'>, readonly string[]> = {
  good: ['ACCEPTED', 'ACTIVE', 'acknowledged', 'delivered', 'live', 'ok', 'ready', 'served', '✓'],
  warn: ['PARTIAL', 'pending', 'open', 'paused', 'suspended', 'unconfirmed', 'warn', 'warning', '!', '–'],
  bad: [
    ...['REJECTED', 'FAULT', 'parked', 'refused', 'revoked', 'expired', 'not ready', 'not reached'],
    ...['no endpoint', '✗'],
  ],
};

/** A word that says how something stands, in the colour of that. All others stay as they are. */
export function paintWord(word: string): string {
  const style = (Object.keys(words) as (keyof typeof words)[]).find((one) => words[one].includes(word));
  return style ? paint(style, word) : word;
}
