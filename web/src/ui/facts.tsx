import type { ComponentChildren } from 'preact';

export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== false)
        .map(([name, value]) => (
          <div key={name} class="contents">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
