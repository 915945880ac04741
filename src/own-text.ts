/** Copies a text to be kept: a substring would keep the whole original text in memory. */
export function ownText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
