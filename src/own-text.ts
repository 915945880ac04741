/** A text to be kept: one that was cut out of a longer one would keep that in memory, too. */
export function ownText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
