// Bodies of the maximum size, full of members, which are the costliest to read.

/** An envelope of about `bytes`, made of many small members in its context. */
export function largeJson(bytes, { context, message }) {
  const member = (index) => `"m${index}":{"a":[1]}`;
  const parts = [];
  let size = 0;
  for (let index = 0; size < bytes - 4_096; index += 1) {
    const part = member(index);
    parts.push(part);
    size += part.length + 1;
  }
  const head = JSON.stringify(context).slice(0, -1);
  return Buffer.from(`{"context":${head},"more":{${parts.join(',')}}},"message":${JSON.stringify(message)}}`);
}
