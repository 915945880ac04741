import { styleText } from 'node:util';

// Colours for terminals. Printed texts contain marks, which the last step of printing replaces with escape sequences, or removes. All other control
// characters are escaped before that, so texts from outside can only contain colours.

const styles = { bold: 'bold', dim: 'dim', good: 'green', warn: 'yellow', bad: 'red' } as const;
type Style = keyof typeof styles;

/** Noncharacters, which Unicode reserves for internal use in programs. */
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
    // As a list: for a single style, Node checks whether its own standard output has colours.
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

/** Paints a state in its colour. All other words stay unchanged. */
export function paintWord(word: string): string {
  const style = (Object.keys(words) as (keyof typeof words)[]).find((one) => words[one].includes(word));
  return style ? paint(style, word) : word;
}
