/** For costly answers that may be a little old: many who ask at once, or again and again, have it read once. A failure is not kept. */
export function cacheBriefly<T>(read: () => Promise<T>, maxAgeMs: number): () => Promise<T> {
  let cached: { answer: Promise<T>; readAt: number } | undefined;
  return () => {
    if (cached && performance.now() - cached.readAt < maxAgeMs) return cached.answer;
    const answer = read();
    cached = { answer, readAt: performance.now() };
    answer.catch(() => (cached = undefined));
    return answer;
  };
}
