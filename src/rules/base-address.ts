/** A base address and the path of an action, which begins with a slash, joined by exactly one. */
export function joinPath(base: string, path: string): string {
  return `${withoutTrailingSlashes(base)}${path}`;
}

export function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

/** Not `replace(/\/+$/, '')`: that is quadratic, and a foreign address may have a hundred thousand slashes. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}
