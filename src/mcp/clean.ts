import { attempt } from '../attempt.ts';

// Texts of catalogs and services reach an assistant as data: one line of visible text, without markup, with only http and https links, of limited
// length, in quotation marks that the text cannot contain (SECURITY.md, "Assistants").

/** The rest of a longer text is ignored. */
const maxLookedAt = 4_000;

/** Direction marks, zero-width, private and unassigned characters, tags; and what can hide a message of any length: variation selectors and fillers. */
const unseen =
  /(?![\u200c\u200d])[\u{e0100}-\u{e01ef}\ufe00-\ufe0f\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu;
/** Joiners are part of words in Indian and Arabic scripts; elsewhere they only hide something. */
const strayJoiners = /(?<![\p{L}\p{M}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{M}])/gu;
/** Includes unclosed tags, and the markers of chat formats, such as <|system|>. */
const tags = /<[!/?|a-zA-Z][^<>]*>?/g;
const entities = /&(?:#\w{1,8}|\w{1,32});/g;
const scriptLinks =
  /\b(?:(?:javascript|vbscript|livescript|view-source)\s*:|data:[\w.+-]*[/;,]|(?:file|blob):\S)\S*/gi;
const otherLinks = /\b(?!https?:)[a-z][a-z0-9+.-]*:\/\/\S*/gi;
const substitutes: Record<string, string> = { '<': '‹', '«': '"', '»': '"', '`': "'" };

/** Repeats each step, because one may leave what another removes. */
export function clean(text: string, maxLength: number): string {
  const cleaner = cleanOnce(text, maxLength);
  return cleaner === text ? text : clean(cleaner, maxLength);
}

function cleanOnce(text: string, maxLength: number): string {
  const line = text
    .slice(0, maxLookedAt)
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(unseen, '')
    .replace(strayJoiners, '')
    .replace(tags, ' ')
    .replace(entities, ' ')
    .replace(scriptLinks, '(link removed)')
    .replace(otherLinks, '(link removed)')
    // Keeps comparisons.
    .replace(/<(?![=\s\d])|[«»`]/g, (mark) => substitutes[mark] ?? '')
    // Disables links and images of Markdown.
    .replace(/\]\s*\(/g, '] (')
    .replaceAll('![', '[')
    .replace(/\s+/g, ' ')
    .trim();
  const characters = Array.from(line.slice(0, maxLength * 2 + 2));
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join('')}…` : line;
}

const quotedLength = 240;

export function quote(text: string): string {
  return `«${clean(text, quotedLength)}»`;
}

const maxIdLength = 300;
const tooLong = '(too long to be shown)';

/** The assistant must send an id back unchanged, so an id that is not clean text is percent-encoded. */
export function encodeId(id: string): string {
  const isClean = clean(id, maxIdLength) === id && !id.includes('%');
  const encoded = isClean ? id : encodeURIComponent(id.replace(/\p{Cs}/gu, ''));
  return encoded.length > maxIdLength ? tooLong : encoded;
}

export function decodeId(id: string): string[] {
  return [...new Set([id, attempt(() => decodeURIComponent(id)) ?? id])];
}

/** Returns the address whole, because it will be fetched. The URL parser escapes invalid characters. Empty for schemes other than http and https. */
export function cleanUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:/i.test(url)) return '';
  const { href } = new URL(url);
  return clean(href, maxIdLength) === href ? href : '';
}
