/** Canonical Base64: accepts only the text that encoding the bytes again gives. So a signature has one spelling, and a change of any character is detected. */
export function findBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

/** The same for base64url, which has no padding (RFC 7515 section 2). */
export function findBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** For foreign documents that mix the two: either alphabet, padded or not, without stray bits. */
export function findAnyBase64(text: string): Buffer | undefined {
  return findBase64url(
    text
      .replace(/={1,2}$/, '')
      .replaceAll('+', '-')
      .replaceAll('/', '_'),
  );
}
