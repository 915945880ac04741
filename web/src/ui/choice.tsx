/** A list to choose from; the empty choice stands for all. */
export function Choice({
  label,
  value,
  options,
  choose,
}: {
  label: string;
  value: string;
  options: readonly string[];
  choose(value: string): void;
}) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">all</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}
