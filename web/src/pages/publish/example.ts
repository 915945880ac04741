import chargers from '../../../../examples/publish-chargers.json?raw';

/** An example publish. Its ids are new each time, because an id belongs to its first publisher. */
export function makeExample(now = Date.now()): string {
  const id = `chargers-${now.toString(36)}`;
  return chargers
    .replaceAll('voltpath-indiranagar', id)
    .replaceAll('voltpath:', `${id}:`)
    .replaceAll('Voltpath Indiranagar', 'My chargers in Indiranagar');
}
