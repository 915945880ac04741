/** Throws if it exceeds the limit, without reading on. */
export async function readBytes(
  { body }: { body: AsyncIterable<Uint8Array> | null },
  maxBytes: number,
  tooLarge = () => new Error(`the answer has more than ${maxBytes} bytes`),
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
