/** A list to choose from; the empty choice stands for all. */
export function Choice(props: {
  label: string;
  value: string;
  options: readonly (string | { value: string; label: string })[];
  all?: string;
  class?: string;
  choose(value: string): void;
}) {
  return (
    <label class={props.class}>
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.choose(event.currentTarget.value)}>
        <option value="">{props.all ?? 'all'}</option>
        {props.options
          .map((option) => (typeof option === 'string' ? { value: option, label: option } : option))
          .map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
      </select>
    </label>
  );
}
