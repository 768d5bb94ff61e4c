/** A figure beside its bar; a missed one says so, as in the table of peers. */
export function held(value: number, bar: number, unit: string, digits = 2): string {
  const isMissed = !(value <= bar);
  return `${value.toFixed(digits)} ${unit}${isMissed ? ' MISSED' : ''} (bar ${bar})`;
}
